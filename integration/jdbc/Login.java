// Logs in by the Flight SQL JDBC driver, once for each URL:
//
//   java --add-opens=java.base/java.nio=ALL-UNNAMED -cp 'DIR/*' Login.java URL…
//
// Prints a line for each: "ok 1", or "no" and the reason.
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;

public class Login {
  public static void main(String[] urls) {
    for (String url : urls) {
      try (Connection c = DriverManager.getConnection(url);
          Statement s = c.createStatement();
          ResultSet r = s.executeQuery("SELECT 1")) {
        r.next();
        System.out.println("ok " + r.getInt(1));
      } catch (Throwable e) {
        System.out.println("no " + String.valueOf(e).replace('\n', ' '));
      }
    }
  }
}
