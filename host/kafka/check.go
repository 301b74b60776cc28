package kafka

import "context"

// Check finds out what Open and OpenOutput would refuse, such as a broker that does not answer or a topic that is missing,
// and makes the topics that they would make. It leaves the group and its transactions alone, so that it may be called while
// another version of the pipeline runs.
func Check(ctx context.Context, o Options) error {
	s := &Session{opt: o, group: GroupName(o.Pipeline), topics: map[string]*topic{}}
	adm, err := openAdmin(ctx, &s.opt)
	if err != nil {
		return err
	}
	defer adm.close()
	s.adm, s.log = adm, s.opt.Log
	if len(o.Sources) == 0 {
		return adm.ensure(ctx)
	}
	return s.prepare(ctx)
}
