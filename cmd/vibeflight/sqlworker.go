package main

import (
	"github.com/spf13/cobra"

	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
)

// workerCommand is what serve starts its processes for SQL with.
const workerCommand = "sql-worker"

func newSQLWorkerCommand() *cobra.Command {
	return &cobra.Command{
		Use: workerCommand, Short: "Run SQL statements for the server that started this process",
		Hidden: true, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return engine.ServeWorker() },
	}
}
