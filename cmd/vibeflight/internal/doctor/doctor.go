// Package doctor examines what this machine has for the server: cores, files, folders, addresses,
// certificates, SQL and GPUs. Each finding has advice if something is missing.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/server"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/sqlengine"
	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
	"github.com/vibeflight/vibeflight/flightsrv/sql/worker"
)

// Finding is the result of one examination.
type Finding struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Fatal  bool   `json:"fatal,omitempty"`  // serve would not start
	Found  string `json:"found"`            // what was found, or why it is missing
	Advice string `json:"advice,omitempty"` // what to do about it
}

// WriteFindings prints the findings, with advice below those that are missing.
func WriteFindings(w io.Writer, findings []Finding, asJSON bool) error {
	for _, f := range findings {
		if asJSON {
			if err := output.WriteJSON(w, f); err != nil {
				return err
			}
			continue
		}
		mark := "ok"
		switch {
		case f.Fatal:
			mark = "!!"
		case !f.OK:
			mark = "--"
		}
		line := fmt.Sprintf("%s  %-9s  %s\n", mark, f.Name, output.OneLine(f.Found))
		if f.Advice != "" {
			line += fmt.Sprintf("    %-9s  %s\n", "", f.Advice)
		}
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
	}
	return nil
}

// Fatal returns an error if a finding keeps serve from starting.
func Fatal(findings []Finding) error {
	var names []string
	for _, f := range findings {
		if f.Fatal {
			names = append(names, f.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return errors.New("serve would not start: " + strings.Join(names, ", "))
}

// Examine examines everything, in the order of dependencies.
func (c *Checkup) Examine(ctx context.Context) []Finding {
	findings := []Finding{{Name: "build", OK: true, Found: c.Build}, examineHost(), examineOpenFiles()}
	folders, found := c.examineData(ctx)
	findings = append(findings, found...)
	findings = append(findings, examineWatches(folders))
	findings = append(findings, c.examineListen(ctx)...)
	findings = append(findings, c.examineTLS()...)
	findings = append(findings, c.examineSQL()...)
	findings = append(findings, c.examineGPUs()...)
	return append(findings, c.examineCache(ctx), examineTemporary())
}

// examineSQL opens the engine, so that it finds an extension that can't be loaded.
func (c *Checkup) examineSQL() []Finding {
	db, err := duck.Open(duck.Config{}, nil)
	if err != nil {
		return []Finding{{
			Name: "SQL", Found: err.Error(),
			Advice: "files are served nevertheless; SQL needs Linux on amd64 or arm64, and a build with a C " +
				"compiler (make build)",
		}}
	}
	found := []Finding{{Name: "SQL", OK: true, Found: "DuckDB " + strings.TrimPrefix(duck.LibraryVersion(), "v")}}
	if err := db.Close(); err != nil {
		return []Finding{{Name: "SQL", Found: err.Error()}}
	}
	return append(found, c.examineSpatial(), examineWorkers())
}

// examineWorkers examines the sandbox of SQL workers.
func examineWorkers() Finding {
	missing := worker.Missing()
	if len(missing) == 0 {
		return Finding{Name: "SQL workers", OK: true, Found: "confined by Landlock and seccomp"}
	}
	return Finding{
		Name: "SQL workers", Found: "without " + strings.Join(missing, "; "),
		Advice: "SQL works nevertheless; a kernel of Linux 5.13 or later, with Landlock and seccomp, confines its " +
			"processes",
	}
}

// examineSpatial loads the spatial extension that serve would load.
func (c *Checkup) examineSpatial() Finding {
	f := Finding{
		Name: "spatial",
		Advice: "SQL has no ST_Area and the like, except what DuckDB itself has: " + duck.InstallSpatial() +
			" in the Python environment of vibeflight, or elsewhere with --duckdb-extensions, brings them",
	}
	folder := c.Serve.SQL.ExtensionFolder()
	path := engine.FindSpatial(folder)
	switch {
	case path != "":
	case folder != "":
		f.Found = "not in " + folder
	case c.Serve.SQL.Extensions == sqlengine.NoExtensions:
		f.Found = "none"
	default:
		f.Found = "not in " + strings.Join(sqlengine.Places(), ", ")
	}
	if path == "" {
		return f
	}
	db, err := duck.Open(duck.Config{Spatial: path}, nil)
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		f.Found = err.Error()
		return f
	}
	return Finding{Name: "spatial", OK: true, Found: path}
}

// Checkup is the configuration of an examination.
type Checkup struct {
	Serve   *server.Config
	NVRTC   string // library; "": where the loader finds it
	Compile bool   // every kernel, for each GPU
	Build   string // of this binary
}
