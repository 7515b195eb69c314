package sql

import (
	"fmt"
	"strings"

	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
	"google.golang.org/protobuf/proto"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
)

// IngestName is the name of the command that stores a table.
const IngestName = "CommandStatementIngest"

// Ingest is the content of that command.
type Ingest struct {
	Name string // of the entry
	Mode catalog.Mode
}

// IngestOf reads a CommandStatementIngest.
func IngestOf(cmd []byte) (Ingest, error) {
	m, err := commandOf(cmd)
	if err != nil {
		return Ingest{}, err
	}
	c, ok := m.(*pb.CommandStatementIngest)
	if !ok {
		return Ingest{}, malformed("command: want a %s", IngestName)
	}
	if err := noTransaction(c.GetTransactionId()); err != nil {
		return Ingest{}, err
	}
	switch {
	case c.GetTemporary():
		return Ingest{}, &UnsupportedError{"temporary: this server has no temporary tables"}
	case c.GetTable() == "":
		return Ingest{}, malformed("table: is missing")
	case c.GetCatalog() != "" && c.GetCatalog() != engine.CatalogName:
		return Ingest{}, malformed("catalog %q: there is one, %q", c.GetCatalog(), engine.CatalogName)
	}
	mode, err := modeOf(c.GetTableDefinitionOptions())
	if err != nil {
		return Ingest{}, err
	}
	name := c.GetTable()
	if schema := c.GetSchema(); schema != "" && !strings.EqualFold(schema, engine.MainSchema) {
		name = schema + "/" + name
	}
	return Ingest{Name: name, Mode: mode}, nil
}

// modeOf converts the options for missing and for existing tables to a mode.
func modeOf(o *pb.CommandStatementIngest_TableDefinitionOptions) (catalog.Mode, error) {
	type wish struct {
		none  pb.CommandStatementIngest_TableDefinitionOptions_TableNotExistOption
		there pb.CommandStatementIngest_TableDefinitionOptions_TableExistsOption
	}
	const (
		create  = pb.CommandStatementIngest_TableDefinitionOptions_TABLE_NOT_EXIST_OPTION_CREATE
		absent  = pb.CommandStatementIngest_TableDefinitionOptions_TABLE_NOT_EXIST_OPTION_FAIL
		fail    = pb.CommandStatementIngest_TableDefinitionOptions_TABLE_EXISTS_OPTION_FAIL
		extend  = pb.CommandStatementIngest_TableDefinitionOptions_TABLE_EXISTS_OPTION_APPEND
		replace = pb.CommandStatementIngest_TableDefinitionOptions_TABLE_EXISTS_OPTION_REPLACE
	)
	modes := map[wish]catalog.Mode{
		{create, fail}: catalog.Create, {create, replace}: catalog.Replace, {absent, extend}: catalog.Append,
		{create, extend}: catalog.CreateAppend,
	}
	mode, ok := modes[wish{o.GetIfNotExist(), o.GetIfExists()}]
	if !ok {
		return 0, malformed("table_definition_options: %v with %v is no mode of this server; create, append, "+
			"replace and create_append are", o.GetIfNotExist(), o.GetIfExists())
	}
	return mode, nil
}

// IngestAnswer encodes the metadata of the answer to an upload.
func IngestAnswer(rows int64) ([]byte, error) {
	b, err := proto.Marshal(&pb.DoPutUpdateResult{RecordCount: rows})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", IngestName, err)
	}
	return b, nil
}
