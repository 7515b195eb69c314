package main

import (
	"github.com/spf13/cobra"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/sqlengine"
	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
)

func newSQLWorkerCommand() *cobra.Command {
	return &cobra.Command{
		Use: sqlengine.WorkerCommand, Short: "Run SQL statements for the server that started this process",
		Hidden: true, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return engine.ServeWorker() },
	}
}
