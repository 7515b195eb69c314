package sql

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/apache/arrow/go/v17/arrow/flight"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/vibeflight/vibeflight/catalog/access"
)

const (
	// pollWait is how long a poll waits for a query to be prepared. Most queries need less. The
	// others first parse a file.
	pollWait = time.Second
	// pollLease is how long the preparation continues without a poll.
	pollLease = time.Minute
)

// poll is a query that is being prepared for a client that polls. info and err are set when done is
// closed.
type poll struct {
	done      chan struct{} // closed with Server.mu held
	client    string
	owner     string // the user that may use it
	cancel    context.CancelFunc
	info      *flight.FlightInfo
	err       error
	panicText string    // of a panic, which is repeated in the polling call
	used      time.Time // guarded by Server.mu
}

// Poll is [Server.Info] for queries over files that take long to parse. It answers soon. Until the
// query is prepared, it returns a descriptor for the next poll.
func (s *Server) Poll(ctx context.Context, d *flight.FlightDescriptor) (*flight.PollInfo, error) {
	m, err := commandOf(d.GetCmd())
	if err != nil {
		return nil, err
	}
	var id string
	var p *poll
	switch m := m.(type) {
	case *pb.CommandStatementQuery:
		id, p, err = s.addPoll(ctx, d)
	case *pb.TicketStatementQuery: // the descriptor of an earlier poll
		id = string(m.GetStatementHandle())
		p, err = s.findPoll(ctx, id)
	default:
		info, err := s.Info(ctx, d)
		if err != nil {
			return nil, err
		}
		return finishedPoll(info), nil
	}
	if err != nil {
		return nil, err
	}
	return s.wait(ctx, id, p)
}

func finishedPoll(info *flight.FlightInfo) *flight.PollInfo {
	progress := 1.0
	return &flight.PollInfo{Info: info, Progress: &progress}
}

func (s *Server) wait(ctx context.Context, id string, p *poll) (*flight.PollInfo, error) {
	timer := time.NewTimer(s.pollWait)
	defer timer.Stop()
	select {
	case <-p.done:
		s.dropPoll(id)
		if p.panicText != "" {
			panic(p.panicText)
		}
		if p.err != nil {
			return nil, p.err
		}
		if err := s.authorizePoll(ctx, p); err != nil {
			return nil, err
		}
		return finishedPoll(p.info), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
	}
	ticket, err := pack(&pb.TicketStatementQuery{StatementHandle: []byte(id)})
	if err != nil {
		return nil, err
	}
	again := &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: ticket}
	return &flight.PollInfo{
		// CancelFlightInfo finds the poll by this descriptor
		Info:             &flight.FlightInfo{FlightDescriptor: again, TotalRecords: -1, TotalBytes: -1, Ordered: true},
		FlightDescriptor: again,
		ExpirationTime:   timestamppb.New(time.Now().Add(pollLease)),
	}, nil
}

// authorizePoll returns an error if the rights of the caller have changed since the first poll so that
// it may not have the result.
func (s *Server) authorizePoll(ctx context.Context, p *poll) error {
	for _, e := range p.info.GetEndpoint() {
		t, err := statementTicket(e.GetTicket().GetTicket())
		if err != nil || t == nil {
			return err
		}
		var gone *HandleError // a fetch says so
		if err := s.authorizeResult(ctx, t.GetStatementHandle()); err != nil && !errors.As(err, &gone) {
			return err
		}
	}
	return nil
}

// addPoll starts to prepare a query in the session of the call. It continues after the end of the
// call.
func (s *Server) addPoll(ctx context.Context, d *flight.FlightDescriptor) (string, *poll, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return "", nil, ErrClosed
	}
	if len(s.polls) >= maxPolls {
		if h, ok := evictionCandidate(s.eachPoll, clientOf(ctx), 1); ok {
			s.evictPoll(h.id)
		}
	}
	id := s.newHandle()
	p := &poll{done: make(chan struct{}), client: clientOf(ctx), owner: access.OwnerOf(ctx), used: time.Now()}
	ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(s.ctx, p.cancel)
	s.polls[id] = p
	s.wg.Go(func() {
		defer s.endPoll(id, p)
		defer unhook()
		defer func() {
			if v := recover(); v != nil {
				p.panicText = fmt.Sprintf("%v\n%s", v, debug.Stack())
			}
		}()
		p.info, p.err = s.Info(ctx, d)
	})
	return id, p, nil
}

// endPoll wakes the calls that poll. A poll that was cancelled or has expired leaves no result.
func (s *Server) endPoll(id string, p *poll) {
	s.mu.Lock()
	wanted := s.polls[id] == p
	close(p.done)
	s.mu.Unlock()
	if !wanted {
		s.cancelPrepared(p)
	}
}

func (s *Server) findPoll(ctx context.Context, id string) (*poll, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.polls[id]
	if p == nil || p.owner != access.OwnerOf(ctx) {
		return nil, s.handleError("poll", id)
	}
	p.used = time.Now()
	return p, nil
}

// dropPoll removes a poll and cancels its preparation. What it has prepared remains a result.
func (s *Server) dropPoll(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.polls[id]; p != nil {
		p.cancel()
		delete(s.polls, id)
	}
}
