package wasm

import (
	"context"
	"log/slog"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wgate/wgate/abi"
)

const abiModule = "wgate1"

// hostFunc is one import. All are plain functions over the stack: reflection would cost ten times as much.
type hostFunc struct {
	name            string
	params, results []api.ValueType
	call            func(ctx context.Context, mod api.Module, stack []uint64)
}

const i32 = api.ValueTypeI32

// imports are the functions of module wgate1. None of them panics, keeps a view of memory, or calls the guest.
var imports = []hostFunc{
	{"out", []api.ValueType{i32, i32}, []api.ValueType{i32}, func(ctx context.Context, mod api.Module, stack []uint64) {
		stack[0] = api.EncodeI32(guestOf(ctx).stage(mod.Memory().Read(uint32(stack[0]), uint32(stack[1]))))
	}},
	{"fail", []api.ValueType{i32, i32}, nil, func(ctx context.Context, mod api.Module, stack []uint64) {
		guestOf(ctx).why = textAt(mod, stack[0], stack[1])
	}},
	{"log", []api.ValueType{i32, i32, i32}, nil, func(ctx context.Context, mod api.Module, stack []uint64) {
		guestOf(ctx).log(levelOf(uint32(stack[0])), textAt(mod, stack[1], stack[2]))
	}},
	{"yield", nil, []api.ValueType{i32}, func(_ context.Context, _ api.Module, stack []uint64) {
		stack[0] = 0
	}},
}

// textAt copies a text out of guest memory, cut to what a message may have.
func textAt(mod api.Module, ptr, n uint64) string {
	b, ok := mod.Memory().Read(uint32(ptr), uint32(n))
	if !ok {
		return "(the text is not inside the memory)"
	}
	return strings.ToValidUTF8(string(b[:min(len(b), messageBytes)]), "\ufffd")
}

func levelOf(l uint32) slog.Level {
	switch l {
	case abi.LevelDebug:
		return slog.LevelDebug
	case abi.LevelInfo:
		return slog.LevelInfo
	case abi.LevelWarn:
		return slog.LevelWarn
	}
	return slog.LevelError
}

// addImports makes module wgate1 in rt.
func addImports(ctx context.Context, rt wazero.Runtime) error {
	b := rt.NewHostModuleBuilder(abiModule)
	for _, f := range imports {
		b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(f.call), f.params, f.results).Export(f.name)
	}
	_, err := b.Instantiate(ctx)
	return err
}
