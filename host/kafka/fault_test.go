package kafka

import (
	"errors"
	"testing"

	"github.com/wgate/wgate/host/commit"
)

// wantFault checks that err is a commit.Stop with a code, nil for an empty one, and that it says what to do.
func wantFault(t *testing.T, err error, code string) {
	t.Helper()
	if code == "" {
		if err != nil {
			t.Errorf("unexpected: %v", err)
		}
		return
	}
	var f *commit.Stop
	if !errors.As(err, &f) || f.Code != code {
		t.Errorf("error %v, want code %s", err, code)
		return
	}
	if f.Cause == "" || f.Next == "" {
		t.Errorf("error without cause or next step: %v", err)
	}
	t.Log(err)
}
