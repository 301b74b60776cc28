package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/wgate/wgate/host/commit"
)

// Forget deletes the pipeline's group with its committed offsets, so that the pipeline begins anew when it has no state
// either. The pipeline must not run: only its own member, whose place the broker keeps for a while after its end, is taken
// out of the group. That there is no such group is no error. Of o, the pipeline, the instance (empty: not known) and the
// broker are used.
func Forget(ctx context.Context, o Options) error {
	a, err := openAdmin(ctx, &o)
	if err != nil {
		return err
	}
	defer a.close()
	group := GroupName(o.Pipeline)
	if o.Instance != "" {
		// What fails here shows below: the group is not empty.
		_, _ = a.adm.LeaveGroup(ctx, kadm.LeaveGroup(group).InstanceIDs(o.Instance).Reason("the pipeline was deleted"))
	}
	err = again(ctx, func() error {
		_, err := a.adm.DeleteGroup(ctx, group)
		return err
	})
	switch {
	case err == nil, errors.Is(err, kerr.GroupIDNotFound):
		return nil
	case errors.Is(err, kerr.NonEmptyGroup):
		return fault(commit.CodeSecond, fmt.Sprintf("group %q still has a member", group), err,
			"stop what runs the pipeline elsewhere; the place of one that has crashed is given free after its session timeout")
	case errors.Is(err, kerr.GroupAuthorizationFailed):
		return fault(CodeForbidden, fmt.Sprintf("group %q may not be deleted", group), err, "give the user DELETE on the group")
	}
	return fmt.Errorf("group %q: delete it: %w", group, err)
}
