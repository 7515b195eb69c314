package restrict

import "context"

// A Gate admits the computation of a filter that a caller requests: it may wait, and bound the time.
// The computation uses the context that it returns, and calls leave once at its end.
type Gate func(ctx context.Context) (within context.Context, leave func(), err error)

type gateKey struct{}

// WithGate returns a context whose requested filters pass a gate.
func WithGate(ctx context.Context, g Gate) context.Context {
	return context.WithValue(ctx, gateKey{}, g)
}

// enter passes the gate of a context, if there is one.
func enter(ctx context.Context) (within context.Context, leave func(), err error) {
	if g, ok := ctx.Value(gateKey{}).(Gate); ok {
		return g(ctx)
	}
	return ctx, func() {}, nil
}
