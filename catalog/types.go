package catalog

import (
	"github.com/vibeflight/vibeflight/catalog/dataset"
	"github.com/vibeflight/vibeflight/catalog/inbox"
	"github.com/vibeflight/vibeflight/catalog/load"
	"github.com/vibeflight/vibeflight/catalog/persist"
	"github.com/vibeflight/vibeflight/catalog/restrict"
	"github.com/vibeflight/vibeflight/catalog/scan"
	"github.com/vibeflight/vibeflight/catalog/tablefile"
	"github.com/vibeflight/vibeflight/catalog/tables"
	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers/union"
)

// The types of the parts that callers of a Catalog use.
type (
	// Entry is one recognized file, or one layer of it.
	Entry = tree.Entry
	// Root is a folder whose files the catalog lists.
	Root = tree.Root
	// OpenStore opens the folder of a URL.
	OpenStore = tree.OpenStore
	// Dataset describes a dataset: many files that are one table.
	Dataset = dataset.Spec
	// Prior is what is known of the batches of a dataset before their rows are loaded.
	Prior = dataset.Prior
	// Selection is a part of a table.
	Selection = scan.Selection
	// Scan walks the selected part of a table.
	Scan = scan.Scan
	// TableRef is a use of a table.
	TableRef = tables.Ref
	// Engines chooses the engine that parses a file.
	Engines = load.Engines
	// EngineStats are the numbers of the engines.
	EngineStats = load.EngineStats
	// DeviceStats are the numbers of a GPU.
	DeviceStats = load.DeviceStats
	// StoreStats are the numbers of a root in a store.
	StoreStats = tree.StoreStats
	// ParseReport describes a parse that has ended.
	ParseReport = load.Report
	// Upload describes a file that a client sends to have it parsed.
	Upload = inbox.Upload
	// Draft is a table that is being stored.
	Draft = inbox.Draft
	// Mode says how a table is stored if there is one of the same name.
	Mode = inbox.Mode
	// WriteResult describes a stored table.
	WriteResult = inbox.WriteResult
	// CachedTable describes a table in a cache folder.
	CachedTable = persist.CachedTable
)

// DatasetFormat is the format of the entry and of the table of a dataset.
const DatasetFormat = tree.DatasetFormat

// The modes of storing.
const (
	Create       = inbox.Create
	Replace      = inbox.Replace
	Append       = inbox.Append
	CreateAppend = inbox.CreateAppend
)

// The errors of the parts.
type (
	// NotFoundError says that no entry has a name.
	NotFoundError = tree.NotFoundError
	// OtherCRSError says that a selection names a reference system that is not the table's.
	OtherCRSError = scan.OtherCRSError
	// PartitionError says that a selection names a partition that the table cannot have.
	PartitionError = scan.PartitionError
	// MisfitError says why a file does not join the others of a dataset.
	MisfitError = union.Error
	// UnknownColumnError says that a selection names a column that the table does not have.
	UnknownColumnError = scan.UnknownColumnError
	// RulesError says that the rules of a restricted table can't be applied.
	RulesError = restrict.Error
	// OptionsError says that a client may not choose the options of a restricted table.
	OptionsError = restrict.OptionsError
	// UnknownFormatError says that there is no format of a name.
	UnknownFormatError = inbox.UnknownFormatError
	// NameError says why a table cannot be stored under a name.
	NameError = inbox.NameError
	// ExistsError says that an entry has the name.
	ExistsError = inbox.ExistsError
	// NotWritableError says that an entry cannot be dropped.
	NotWritableError = inbox.NotWritableError
)

// Errors without details.
var (
	ErrClosed   = tree.ErrClosed    // the catalog is closed
	ErrReadOnly = inbox.ErrReadOnly // no root is writable

	ErrUnreadable = restrict.ErrUnreadable // the file of a restricted table can't be read
)

// Functions of the parts that need no Catalog.
var (
	ParseRoot    = tree.ParseRoot     // parses the value of --data
	NewScan      = scan.New           // prepares a scan of a table in memory
	StreamSchema = inbox.StreamSchema // the schema of the records of Catalog.Stream
	ListCache    = persist.ListCache  // lists the tables of a cache folder
	ClearCache   = persist.ClearCache // removes the tables of a cache folder
	MappedFile   = tablefile.Locate   // finds the cache file that a buffer is mapped from
)
