package gpu

import (
	"errors"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestSourceKey(t *testing.T) {
	base := Source{
		Name: "a.cu", Text: "text", Headers: map[string]string{"h": "1", "i": "2"},
		Defines: []string{"A=1", "B=2"},
	}
	tests := []struct {
		name string
		src  Source
		same bool
	}{
		{"the same", Source{
			Name: "a.cu", Text: "text", Headers: map[string]string{"i": "2", "h": "1"},
			Defines: []string{"A=1", "B=2"},
		}, true},
		{"another name", Source{Name: "b.cu", Text: "text", Headers: base.Headers, Defines: base.Defines}, true},
		{"another text", Source{Text: "texT", Headers: base.Headers, Defines: base.Defines}, false},
		{"another header text", Source{
			Text: "text", Headers: map[string]string{"h": "1", "i": "3"},
			Defines: base.Defines,
		}, false},
		{"another header name", Source{
			Text: "text", Headers: map[string]string{"h": "1", "j": "2"},
			Defines: base.Defines,
		}, false},
		{"headers' texts exchanged", Source{
			Text: "text", Headers: map[string]string{"h": "2", "i": "1"},
			Defines: base.Defines,
		}, false},
		{"a header less", Source{Text: "text", Headers: map[string]string{"h": "1"}, Defines: base.Defines}, false},
		{"headers as defines", Source{
			Text: "text", Headers: map[string]string{"h": "1"},
			Defines: []string{"i", "2", "A=1", "B=2"},
		}, false},
		{
			"defines in another order",
			Source{Text: "text", Headers: base.Headers, Defines: []string{"B=2", "A=1"}},
			false,
		},
		{"defines joined", Source{Text: "text", Headers: base.Headers, Defines: []string{"A=1B=2"}}, false},
		{"no defines", Source{Text: "text", Headers: base.Headers}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if same := SourceKey(tt.src) == SourceKey(base); same != tt.same {
				t.Errorf("SourceKey(%+v) == SourceKey(%+v) is %v", tt.src, base, same)
			}
		})
	}
}

// images is Images of a map from key and architecture.
type images map[[2]string]string

func (m images) Image(key, arch string) ([]byte, bool) {
	image, ok := m[[2]string{key, arch}]
	return []byte(image), ok
}

// imagesFor gives images of src for architectures; each is the architecture's name.
func imagesFor(src Source, archs ...string) images {
	m := images{}
	for _, arch := range archs {
		m[[2]string{SourceKey(src), arch}] = arch
	}
	return m
}

func TestOrigins(t *testing.T) {
	src := text(1)
	made := string(imageOf("counter 1", "sm_90", src))
	tests := []struct {
		name    string
		images  []string // architectures of src that are compiled in
		other   bool     // of another source
		cached  bool     // by an earlier run
		none    bool     // no compiler
		broken  bool     // the compiler refuses src
		refuse  []string // images that the driver refuses
		loads   []string
		origin  Origin
		arch    string
		calls   int
		warning string
	}{
		{name: "compiled", loads: []string{made}, origin: FromCompiler, arch: "sm_90", calls: 1},
		{name: "cached", cached: true, loads: []string{made}, origin: FromCache, arch: "sm_90"},
		{
			name: "compiled in", images: []string{"sm_80", "sm_90", "compute_80"}, cached: true,
			loads: []string{"sm_90"}, origin: FromImages, arch: "sm_90",
		},
		{
			name: "compiled in without a compiler", images: []string{"sm_90"}, none: true, loads: []string{"sm_90"},
			origin: FromImages, arch: "sm_90",
		},
		{
			name: "another architecture's image is of no use", images: []string{"sm_80", "compute_80"},
			loads: []string{made}, origin: FromCompiler, arch: "sm_90", calls: 1,
		},
		{
			name: "another source's image is of no use", images: []string{"sm_90", "compute_80"}, other: true,
			loads: []string{made}, origin: FromCompiler, arch: "sm_90", calls: 1,
		},
		{
			name: "PTX", images: []string{"compute_80", "compute_86", "compute_100", "sm_80"}, none: true,
			loads: []string{"compute_86"}, origin: FromPTX, arch: "compute_86", warning: "no compiler",
		},
		{
			name: "PTX where the compiler fails", images: []string{"compute_90"}, broken: true,
			loads: []string{"compute_90"}, origin: FromPTX, arch: "compute_90", calls: 1, warning: "broken",
		},
		{
			name: "refused images", images: []string{"sm_90", "compute_80"}, cached: true,
			refuse: []string{"sm_90", made},
			loads:  []string{"sm_90", made, made, "compute_80"}, origin: FromPTX, arch: "compute_80",
			calls: 1, warning: "refused",
		},
		{
			name: "a refused image is compiled", images: []string{"sm_90"}, refuse: []string{"sm_90"},
			loads: []string{"sm_90", made}, origin: FromCompiler, arch: "sm_90", calls: 1,
			warning: "image for sm_90 (binary): refused",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLab(t)
			if tt.cached {
				l.wantFrom(src, FromCompiler)
				l.compiler.calls, l.drv.loads = 0, nil
			}
			l.images = imagesFor(src, tt.images...)
			if tt.other {
				l.images = imagesFor(text(2), tt.images...)
			}
			if tt.broken {
				l.compiler.during = func(Source) error { return errors.New("broken") }
			}
			compiler := l.compiler
			if tt.none {
				l.compiler = nil
			}
			l.drv.refuse = func(image []byte) error {
				for _, r := range tt.refuse {
					if string(image) == r {
						return errors.New("refused")
					}
				}
				return nil
			}
			info := l.program(src)
			var loads []string
			for _, image := range l.drv.loads {
				loads = append(loads, string(image))
			}
			if !reflect.DeepEqual(loads, tt.loads) || compiler.calls != tt.calls {
				t.Errorf("the driver was given %q after %d compilations, want %q after %d", loads,
					compiler.calls, tt.loads, tt.calls)
			}
			if info.Origin != tt.origin || info.Arch != tt.arch || info.ImageBytes != len(tt.loads[len(tt.loads)-1]) {
				t.Errorf("%+v, want from %q, for %s", info, tt.origin, tt.arch)
			}
			if (info.Warning != nil) != (tt.warning != "") || info.Warning != nil &&
				!strings.Contains(info.Warning.Error(), tt.warning) {
				t.Errorf("warning %v, want %q", info.Warning, tt.warning)
			}
		})
	}
}

// PTX is for devices: the emulation has no use for it.
func TestNoPTXWithoutACard(t *testing.T) {
	l := newLab(t)
	l.drv.arch, l.compiler, l.images = "emulated", nil, imagesFor(text(1), "compute_80")
	if _, err := l.open().Program(text(1)); !errors.Is(err, ErrNoCompiler) {
		t.Errorf("Program: %v, want ErrNoCompiler", err)
	}
}

func TestNoCompiler(t *testing.T) {
	l := newLab(t)
	l.compiler = nil
	d := l.open()
	if _, err := d.Program(text(1)); !errors.Is(err, ErrNoCompiler) || !strings.Contains(err.Error(), "1.cu") {
		t.Errorf("Program: %v, want ErrNoCompiler and the source's name", err)
	}
	reason := errors.New("libnvrtc.so.12: not found")
	d.programs.missing = reason
	if _, err := d.Program(text(1)); !errors.Is(err, ErrNoCompiler) || !errors.Is(err, reason) {
		t.Errorf("Program: %v, want ErrNoCompiler and the reason", err)
	}
}

func TestLoadStopsWhereNoImageHelps(t *testing.T) {
	for _, kind := range []error{ErrMemory, ErrLost} {
		l := newLab(t)
		l.images = imagesFor(text(1), "sm_90", "compute_80")
		l.drv.refuse = func([]byte) error { return kind }
		d := l.open()
		if _, err := d.Program(text(1)); !errors.Is(err, kind) || len(l.drv.loads) != 1 || l.compiler.calls != 0 {
			t.Errorf("Program: %v after %d loads and %d compilations, want %v after the first", err,
				len(l.drv.loads), l.compiler.calls, kind)
		}
		l.drv.refuse = nil
		if _, err := d.Program(text(1)); err != nil {
			t.Errorf("asked again, once there is room: %v", err)
		}
	}
}

func TestProgramIsMadeOnce(t *testing.T) {
	for _, fails := range []bool{false, true} {
		l := newLab(t)
		started, proceed := make(chan bool, 1), make(chan bool)
		l.compiler.during = func(Source) error {
			started <- true
			<-proceed
			if fails {
				return errors.New("broken")
			}
			return nil
		}
		d := l.open()
		programs, errs := make([]*Program, 8), make([]error, 8)
		var all sync.WaitGroup
		ask := func(i int) { all.Go(func() { programs[i], errs[i] = d.Program(text(1)) }) }
		ask(0)
		<-started
		for i := 1; i < len(programs); i++ {
			ask(i)
		}
		if fails { // a caller that comes too late for the failure compiles again, and fails again
			go func() {
				for range started {
				}
			}()
		}
		close(proceed)
		all.Wait()
		close(started)
		for i := range programs {
			if (errs[i] != nil) != fails || !fails && programs[i] != programs[0] {
				t.Errorf("fails %v, goroutine %d: %p, %v; the first has %p", fails, i, programs[i], errs[i],
					programs[0])
			}
		}
		if !fails && (l.compiler.calls != 1 || len(l.drv.loads) != 1) {
			t.Errorf("%d compilations, %d loads", l.compiler.calls, len(l.drv.loads))
		}
	}
}

func TestFailureIsForgotten(t *testing.T) {
	l := newLab(t)
	broken := errors.New("1.cu(3): expected a ;")
	l.compiler.during = func(Source) error { return broken }
	d := l.open()
	if _, err := d.Program(text(1)); !errors.Is(err, broken) || errors.Is(err, ErrNoCompiler) {
		t.Errorf("Program: %v, want what the compiler said", err)
	}
	l.compiler.during = nil
	if _, err := d.Program(text(1)); err != nil {
		t.Errorf("asked again: %v", err)
	}
}

func TestCompilationsAtOnce(t *testing.T) {
	l := newLab(t)
	var now, most atomic.Int64
	l.compiler.during = func(Source) error {
		for n := now.Add(1); ; runtime.Gosched() {
			if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
				break
			}
		}
		runtime.Gosched()
		now.Add(-1)
		return nil
	}
	d := l.open()
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			if _, err := d.Program(text(i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if most.Load() > int64(runtime.NumCPU()) || l.compiler.calls != 40 {
		t.Errorf("%d compilations, %d of them at once, on %d cores", l.compiler.calls, most.Load(), runtime.NumCPU())
	}
	names := map[string]bool{}
	for _, info := range d.Programs() {
		names[info.Name] = true
		if info.Origin != FromCompiler || info.Log != "compiled "+info.Name || info.Duration <= 0 ||
			info.Warning != nil {
			t.Errorf("%+v", info)
		}
	}
	if len(names) != 40 {
		t.Errorf("Programs tells of %d", len(names))
	}
}

func TestCloseUnloadsAll(t *testing.T) {
	l := newLab(t)
	started, proceed := make(chan bool), make(chan bool)
	d := l.open()
	for i := range 3 {
		_, err := d.Program(text(i))
		must(t, err)
	}
	l.compiler.during = func(Source) error {
		close(started)
		<-proceed
		return nil
	}
	late := make(chan error)
	go func() {
		_, err := d.Program(text(3))
		late <- err
	}()
	<-started
	closed := make(chan error)
	go func() { closed <- d.Close() }()
	close(proceed)
	if err := <-late; err != nil {
		t.Errorf("a program that was being made: %v", err)
	}
	if err := <-closed; err != nil || len(l.drv.open) != 0 || !l.drv.closed {
		t.Errorf("Close: %v, %d modules are loaded, closed %v", err, len(l.drv.open), l.drv.closed)
	}
	if _, err := d.Program(text(0)); !errors.Is(err, errClosed) {
		t.Errorf("Program after Close: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}
