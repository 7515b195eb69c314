package api

import (
	"net/http"
	"strings"

	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
	"github.com/vibeflight/vibeflight/flightsrv/web/rows"
)

// route is a path with a method: what answers it, and its description for OpenAPI.
type route struct {
	method, path string // a variable {name} of path is the rest of the path, with slashes
	operation    string // the operationId
	summary      string
	parameters   []param
	body         schema // of JSON; nil: none
	answer       answer
	private      bool // errors tell that a login is missing

	describe func(*http.Request) (httpcall.Request, error)
	run      httpcall.Func
	plain    http.HandlerFunc // in place of run, for what is no call
}

// answer is that of a request that succeeds.
type answer struct {
	status  string
	what    string
	formats bool   // it is in one of rows.Formats
	json    schema // it is JSON; nil: it is not
}

// param is a parameter of a path or of the query of a URL.
type param struct {
	name, what string
	schema     schema
}

// pattern returns the pattern of a mux.
func (r *route) pattern() string {
	return r.method + " " + strings.Replace(r.path, "{name}", "{name...}", 1)
}

func (r *route) handler(calls httpcall.Server) http.Handler {
	if r.plain != nil {
		return r.plain
	}
	return httpcall.Handler(calls, r.describe, r.run)
}

// ofEntry describes a request that concerns an entry.
func ofEntry(method string) func(*http.Request) (httpcall.Request, error) {
	return func(r *http.Request) (httpcall.Request, error) {
		return httpcall.Request{Method: method, Name: r.PathValue("name")}, nil
	}
}

// routes are all paths.
func (a *handlers) routes() []route {
	rowsAnswer := answer{status: "200", what: "The rows, as a stream.", formats: true}
	return []route{
		{
			method: "GET", path: "/v1/tables", operation: "listTables", private: true,
			summary:    "Lists the tables that the caller may see, sorted by name, page by page.",
			parameters: listParameters, answer: answer{status: "200", what: "A page of the list.", json: ref("Tables")},
			describe: httpcall.Named("tables"), run: a.list,
		},
		{
			method: "GET", path: "/v1/tables/{name}", operation: "readTable", private: true,
			summary:    "Reads rows of a table.",
			parameters: append(ticketParameters(), formatParameters...), answer: rowsAnswer,
			describe: ofEntry("table"), run: a.table,
		},
		{
			method: "POST", path: "/v1/tables/{name}", operation: "readTableByTicket", private: true,
			summary:    "Reads rows of a table. The fields of the ticket are in the body.",
			parameters: append(ticketParameters(), formatParameters...), body: ref("Ticket"), answer: rowsAnswer,
			describe: ofEntry("table"), run: a.table,
		},
		{
			method: "GET", path: "/v1/info/{name}", operation: "describeTable", private: true,
			summary: "Describes a table: schema, CRS, extent, counts and version. It parses the file if necessary. " +
				"For a malformed file the error has the lines around the position.",
			parameters: infoParameters, answer: answer{
				status: "200", what: "The description.",
				json: ref("Description"),
			},
			describe: ofEntry("info"), run: a.info,
		},
		{
			method: "POST", path: "/v1/sql", operation: "query", private: true,
			summary:    "Runs a query in SQL.",
			parameters: formatParameters, body: ref("Query"), answer: rowsAnswer,
			describe: httpcall.Named("sql"), run: a.sql,
		},
		{
			method: "POST", path: "/v1/actions/{action}", operation: "runAction", private: true,
			summary:    "Runs an action of the server, as DoAction of Arrow Flight does.",
			parameters: []param{{"action", "Name of the action.", schema{"type": "string"}}},
			body:       schema{"type": "object"},
			answer:     answer{status: "200", what: "What the action returns.", json: schema{}},
			describe:   httpcall.Named("action"), run: a.action,
		},
		{
			method: "POST", path: "/v1/session", operation: "logIn", private: true,
			summary: "Checks the credential of the header Authorization, and sets a cookie with a session token.",
			answer:  answer{status: "200", what: "The name of the user.", json: ref("Session")}, plain: a.logIn,
		},
		{
			method: "DELETE", path: "/v1/session", operation: "logOut",
			summary: "Removes the cookie.", answer: answer{status: "204", what: "The cookie is removed."},
			plain: a.logOut,
		},
		{
			method: "GET", path: "/v1/openapi.json", operation: "openapi",
			summary: "Returns this description.",
			answer:  answer{status: "200", what: "An OpenAPI document.", json: schema{"type": "object"}},
			plain:   a.openapi,
		},
	}
}

var listParameters = []param{
	{"prefix", "Names begin with this text.", schema{"type": "string"}},
	{"format", "Format of the files.", schema{"type": "string", "examples": []string{"geojson"}}},
	{"limit", "Number of tables of a page.", schema{
		"type": "integer", "minimum": 1, "maximum": maxPage, "default": defaultPage,
	}},
	{"after", "The page begins with the first name after this one. The link next has it.", schema{"type": "string"}},
}

var infoParameters = []param{
	nameParameter, {"version", "The only acceptable version of the table.", schema{"type": "string"}}, optionsParameter,
}

var (
	nameParameter = param{
		"name", "Name of the table, whose slashes may be sent as they are. Folder and extension may be left out " +
			"if that is unambiguous.",
		schema{"type": "string", "examples": []string{"world/countries.geojson"}},
	}
	optionsParameter = param{"options", "JSON object of options of the format.", schema{"type": "string"}}
)

// ticketParameters are the fields of a ticket as parameters of a URL.
func ticketParameters() []param {
	box := schema{"type": "array", "items": schema{"type": "number"}, "minItems": 4, "maxItems": 4}
	return []param{
		nameParameter,
		{"columns", "Columns, in this order. Without it, all.", schema{
			"type": "array", "items": schema{"type": "string"}, "minItems": 1,
		}},
		{"where", "Only rows for which this SQL predicate over the columns is true.", schema{
			"type": "string", "examples": []string{"pop_est > 1000000 AND continent = 'Asia'"},
		}},
		{"bbox", "Only rows whose box meets this one: xmin, ymin, xmax, ymax in the CRS of the table.", box},
		{"rows", "Only rows of this range: the first one, and the one after the last.", schema{
			"type": "array", "items": schema{"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2,
		}},
		{"limit", "At most this number of rows.", schema{"type": "integer", "minimum": 0}},
		{
			"partitions", "JSON object of values of the columns that folders of a dataset have.",
			schema{"type": "string"},
		},
		{"geometry_encoding", "Encoding of geometries in Arrow.", schema{
			"type": "string", "enum": []string{"native", "wkb", "wkt"}, "default": "native",
		}},
		{"coords", "Layout of native coordinates in Arrow.", schema{
			"type": "string", "enum": []string{"separated", "interleaved"}, "default": "separated",
		}},
		{"crs", "CRS of the geometries in the answer, and of bbox: that of the table without it.", schema{
			"type": "string",
		}},
		{"version", "The only acceptable version of the table.", schema{"type": "string"}},
		optionsParameter,
	}
}

// formatParameters choose the format of rows.
var formatParameters = []param{
	{"format", "Format of the rows, in place of Accept.", schema{"type": "string", "enum": formatNames()}},
	{"compression", "Compression inside of an Arrow stream or of Parquet.", schema{
		"type": "string", "enum": []string{"none", "lz4", "zstd"},
	}},
	{"download", "Whether browsers save the rows to a file.", schema{"type": "boolean", "default": false}},
}

func formatNames() []string {
	var names []string
	for _, f := range rows.Formats {
		names = append(names, f.Name)
	}
	return names
}
