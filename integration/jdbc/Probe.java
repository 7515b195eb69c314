// Asks the Flight SQL JDBC driver all that a tool asks of a database, of a server over a folder with Natural Earth's countries.
//
//   java --add-opens=java.base/java.nio=ALL-UNNAMED -cp 'DIR/*' Probe.java 127.0.0.1:8815
//
// Prints a line for each check, "ok NAME VALUE" or "no NAME REASON", and ends with status 0 if it came to its end.
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Time;
import java.sql.Timestamp;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import schemacrawler.schema.Catalog;
import schemacrawler.schema.Schema;
import schemacrawler.schema.Table;
import schemacrawler.schemacrawler.LoadOptionsBuilder;
import schemacrawler.schemacrawler.SchemaCrawlerOptions;
import schemacrawler.schemacrawler.SchemaCrawlerOptionsBuilder;
import schemacrawler.schemacrawler.SchemaInfoLevelBuilder;
import schemacrawler.tools.utility.SchemaCrawlerUtility;
import us.fatehi.utility.datasource.DatabaseConnectionSource;
import us.fatehi.utility.datasource.DatabaseConnectionSources;
import us.fatehi.utility.datasource.MultiUseUserCredentials;

public class Probe {
  interface Check {
    Object run() throws Exception;
  }

  static void check(String name, Check check) {
    try {
      System.out.println("ok " + name + " " + check.run());
    } catch (Throwable e) {
      Throwable cause = e instanceof InvocationTargetException ? e.getCause() : e;
      System.out.println("no " + name + " " + String.valueOf(cause).replace('\n', ' '));
    }
  }

  public static void main(String[] args) throws Exception {
    String url = "jdbc:arrow-flight-sql://" + args[0] + "/?useEncryption=false";
    try (Connection c = DriverManager.getConnection(url)) {
      getters(c.getMetaData());
      listings(c.getMetaData());
      statements(c);
      prepared(c);
    }
    check("login", () -> login(url));
    check("crawl", () -> crawl(url));
    System.out.println("end");
  }

  // login connects with a user and a password, which tools may insist on.
  static int login(String url) throws SQLException {
    try (Connection c = DriverManager.getConnection(url, "somebody", "or other"); Statement s = c.createStatement()) {
      return count(s.executeQuery("SELECT 1"));
    }
  }

  // getters calls each of DatabaseMetaData's methods without an argument.
  static void getters(DatabaseMetaData meta) {
    Method[] methods = DatabaseMetaData.class.getMethods();
    Arrays.sort(methods, Comparator.comparing(Method::getName));
    for (Method m : methods) {
      if (m.getParameterCount() == 0) {
        check("getter." + m.getName(), () -> {
          Object value = m.invoke(meta);
          return value instanceof ResultSet rows ? count(rows) + " rows" : value;
        });
      }
    }
  }

  static int count(ResultSet rows) throws SQLException {
    try (rows) {
      int n = 0;
      while (rows.next()) {
        n++;
      }
      return n;
    }
  }

  // listings calls those with arguments that tools use to draw their tree.
  static void listings(DatabaseMetaData meta) {
    check("tables", () -> names(meta.getTables(null, null, "%", null), "TABLE_NAME"));
    check("tables.of.schema", () -> names(meta.getTables("vibeflight", "world", "%", null), "TABLE_NAME"));
    check("tables.by.pattern", () -> names(meta.getTables(null, "%", "count%", null), "TABLE_NAME"));
    check("tables.of.no.type", () -> names(meta.getTables(null, null, "%", new String[] {"SYNONYM"}), "TABLE_NAME"));
    check("schemas", () -> names(meta.getSchemas("vibeflight", "w%"), "TABLE_SCHEM"));
    check("columns", () -> names(meta.getColumns(null, "world", "countries.geojson", "%"), "COLUMN_NAME"));
    check("columns.types", () -> names(meta.getColumns(null, "world", "countries.geojson", "%"), "TYPE_NAME"));
    check("primary.keys", () -> count(meta.getPrimaryKeys("vibeflight", "world", "countries.geojson")));
    check("imported.keys", () -> count(meta.getImportedKeys("vibeflight", "world", "countries.geojson")));
    check("exported.keys", () -> count(meta.getExportedKeys("vibeflight", "world", "countries.geojson")));
    check("cross.reference", () -> count(meta.getCrossReference("vibeflight", "world", "countries.geojson", null, null, "x")));
    check("index.info", () -> count(meta.getIndexInfo(null, "world", "countries.geojson", false, true)));
    check("best.row", () -> count(meta.getBestRowIdentifier(null, "world", "countries.geojson", 0, true)));
    check("procedures", () -> count(meta.getProcedures(null, null, "%")));
    check("functions", () -> count(meta.getFunctions(null, null, "%")));
  }

  static List<String> names(ResultSet rows, String column) throws SQLException {
    List<String> names = new ArrayList<>();
    try (rows) {
      while (rows.next()) {
        names.add(rows.getString(column));
      }
    }
    return names;
  }

  static void statements(Connection c) {
    check("select.1", () -> one(c, "SELECT 1"));
    check("count", () -> one(c, "SELECT count(*) FROM world.\"countries.geojson\""));
    check("sum", () -> one(c, "SELECT sum(pop_est) FROM world.\"countries.geojson\""));
    check("text", () -> one(c, "SELECT name FROM world.\"countries.geojson\" ORDER BY pop_est DESC LIMIT 1"));
    check("null", () -> one(c, "SELECT NULL::INTEGER"));
    check("double", () -> one(c, "SELECT 0.1::DOUBLE"));
    check("decimal", () -> one(c, "SELECT 12345678901234567890.5::DECIMAL(38,1)"));
    check("date", () -> one(c, "SELECT DATE '2020-02-29'"));
    check("timestamp", () -> one(c, "SELECT TIMESTAMP '2020-02-29 12:34:56.789'"));
    check("boolean", () -> one(c, "SELECT true"));
    check("list", () -> one(c, "SELECT [1, 2, 3]"));
    check("geometry", () -> {
      try (Statement s = c.createStatement(); ResultSet rows = s.executeQuery("SELECT geometry FROM world.\"countries.geojson\"")) {
        rows.next();
        return rows.getBytes(1)[0]; // WKB begins with the order of its bytes
      }
    });
    check("result.metadata", () -> {
      try (Statement s = c.createStatement(); ResultSet rows = s.executeQuery("SELECT name, pop_est, geometry, 1.5::DOUBLE AS x FROM world.\"countries.geojson\"")) {
        ResultSetMetaData meta = rows.getMetaData();
        List<String> columns = new ArrayList<>();
        for (int i = 1; i <= meta.getColumnCount(); i++) {
          // All that a tool asks of a column has to have an answer.
          meta.getColumnClassName(i);
          meta.getColumnDisplaySize(i);
          meta.getPrecision(i);
          meta.getScale(i);
          meta.getCatalogName(i);
          meta.getSchemaName(i);
          meta.getTableName(i);
          meta.isNullable(i);
          meta.isSigned(i);
          meta.isSearchable(i);
          meta.isReadOnly(i);
          columns.add(meta.getColumnLabel(i) + ":" + meta.getColumnTypeName(i));
        }
        return columns;
      }
    });
    check("all.rows", () -> {
      try (Statement s = c.createStatement(); ResultSet rows = s.executeQuery("SELECT * FROM \"large.geojsonl\"")) {
        return count(rows);
      }
    });
    check("max.rows", () -> {
      try (Statement s = c.createStatement()) {
        s.setMaxRows(7);
        return count(s.executeQuery("SELECT * FROM \"large.geojsonl\""));
      }
    });
    check("two.at.once", () -> {
      try (Statement a = c.createStatement(); Statement b = c.createStatement();
          ResultSet first = a.executeQuery("SELECT n FROM \"large.geojsonl\" ORDER BY n"); ResultSet second = b.executeQuery("SELECT 2")) {
        first.next();
        second.next();
        return first.getLong(1) + second.getLong(1);
      }
    });
    check("mistake", () -> {
      try (Statement s = c.createStatement()) {
        s.executeQuery("SELECT nam FROM world.\"countries.geojson\"");
        return "no error";
      } catch (SQLException e) {
        return e.getMessage().replace('\n', ' ');
      }
    });
    check("update.is.refused", () -> {
      try (Statement s = c.createStatement()) {
        s.executeUpdate("DELETE FROM world.\"countries.geojson\"");
        return "no error";
      } catch (SQLException e) {
        return "refused";
      }
    });
  }

  static String one(Connection c, String query) throws SQLException {
    try (Statement s = c.createStatement(); ResultSet rows = s.executeQuery(query)) {
      if (!rows.next()) {
        throw new SQLException("no row");
      }
      Object value = rows.getObject(1);
      if (rows.wasNull() != (value == null)) {
        throw new SQLException("wasNull is wrong");
      }
      return String.valueOf(value);
    }
  }

  interface Getter {
    Object get(ResultSet rows) throws SQLException;
  }

  // zoned gives an expression over a point in time with a zone.
  static Object zoned(Connection c, String expression, Getter getter) throws SQLException {
    try (Statement s = c.createStatement(); ResultSet rows = s.executeQuery("SELECT " + expression + " FROM (SELECT TIMESTAMPTZ '2024-02-29 12:34:56+00' AS tz)")) {
      rows.next();
      return getter.get(rows);
    }
  }

  interface Setter {
    void set(PreparedStatement p) throws SQLException;
  }

  static Object asked(Connection c, String query, Setter setter) throws SQLException {
    try (PreparedStatement p = c.prepareStatement(query)) {
      setter.set(p);
      try (ResultSet rows = p.executeQuery()) {
        rows.next();
        return rows.getObject(1);
      }
    }
  }

  static void prepared(Connection c) {
    String where = "SELECT count(*) FROM world.\"countries.geojson\" WHERE ";
    check("prepared.int", () -> asked(c, where + "pop_est > ?", p -> p.setInt(1, 100_000_000)));
    check("prepared.long", () -> asked(c, where + "pop_est > ?", p -> p.setLong(1, 1_000_000_000L)));
    check("prepared.string", () -> asked(c, where + "continent = ?", p -> p.setString(1, "Africa")));
    check("prepared.double", () -> asked(c, where + "gdp_md_est > ?", p -> p.setDouble(1, 1e6)));
    check("prepared.null", () -> asked(c, where + "name IS NOT DISTINCT FROM ?", p -> p.setNull(1, Types.VARCHAR)));
    check("prepared.cast", () -> asked(c, "SELECT ?::INTEGER + 1", p -> p.setInt(1, 41)));
    check("prepared.two", () -> asked(c, where + "continent = ? AND pop_est < ?", p -> {
      p.setString(1, "Africa");
      p.setInt(2, 1_000_000);
    }));
    check("prepared.again", () -> {
      try (PreparedStatement p = c.prepareStatement(where + "continent = ?")) {
        List<Object> counts = new ArrayList<>();
        for (String continent : new String[] {"Africa", "Asia", "Atlantis"}) {
          p.setString(1, continent);
          try (ResultSet rows = p.executeQuery()) {
            rows.next();
            counts.add(rows.getObject(1));
          }
        }
        return counts;
      }
    });
    // Times are written in milliseconds by driver 18.3.0, whatever unit the server announces.
    String types = "SELECT count(*) FROM (VALUES (TIMESTAMP '2024-02-29 12:34:56.123456', TIMESTAMPTZ '2024-02-29 12:34:56+00', TIME '12:34:56', DATE '2024-02-29'),"
        + " (TIMESTAMP '2024-03-01 00:00:00', TIMESTAMPTZ '2024-03-01 00:00:00+02', TIME '00:00:01', DATE '2024-03-01')) v(ts, tz, t, d) WHERE ";
    Timestamp one = Timestamp.valueOf("2024-02-29 13:00:00");
    check("prepared.timestamp", () -> asked(c, types + "ts > ?", p -> p.setTimestamp(1, one)));
    check("prepared.timestamp.zone", () -> asked(c, types + "tz > ?", p -> p.setTimestamp(1, one)));
    check("prepared.time", () -> asked(c, types + "t > ?", p -> p.setTime(1, Time.valueOf("12:40:00"))));
    check("prepared.date", () -> asked(c, types + "d > ?", p -> p.setDate(1, Date.valueOf("2024-02-29"))));
    check("prepared.timestamp.value", () -> asked(c, "SELECT epoch_ms(?::TIMESTAMP)", p -> p.setTimestamp(1, one)));
    check("zone.timestamp", () -> zoned(c, "tz", rows -> rows.getTimestamp(1)));
    check("zone.object", () -> {
      try {
        return zoned(c, "tz", rows -> rows.getObject(1));
      } catch (Exception e) {
        return String.valueOf(e).contains("not implemented") || String.valueOf(e.getCause()).contains("not implemented") ? "not implemented" : e;
      }
    });
    check("zone.cast", () -> zoned(c, "tz::TIMESTAMP", rows -> rows.getObject(1)));
    check("prepared.metadata", () -> {
      try (PreparedStatement p = c.prepareStatement("SELECT name FROM world.\"countries.geojson\" WHERE pop_est > ? AND continent = ?")) {
        return p.getMetaData().getColumnLabel(1) + " " + p.getParameterMetaData().getParameterCount();
      }
    });
  }

  // crawl has SchemaCrawler read the catalog. Its source is closed, or the JVM would not end.
  static String crawl(String url) throws Exception {
    SchemaCrawlerOptions options = SchemaCrawlerOptionsBuilder.newSchemaCrawlerOptions()
        .withLoadOptions(LoadOptionsBuilder.builder().withSchemaInfoLevel(SchemaInfoLevelBuilder.standard()).toOptions());
    try (DatabaseConnectionSource source = DatabaseConnectionSources.newDatabaseConnectionSource(url, new MultiUseUserCredentials())) {
      Catalog catalog = SchemaCrawlerUtility.getCatalog(source, options);
      int tables = 0;
      int columns = 0;
      for (Schema schema : catalog.getSchemas()) {
        for (Table table : catalog.getTables(schema)) {
          tables++;
          columns += table.getColumns().size();
        }
      }
      return tables + " tables " + columns + " columns";
    }
  }
}
