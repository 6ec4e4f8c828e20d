import { integer, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { createdAt, instant, oneOf } from "./columns.ts";
import { sessions } from "./sessions.ts";
import { HOST_HOMES, type HostHome } from "./unions.ts";

/**
 * The browser hosts: processes that run the browsers of sessions. A process of the service renews a host's lease while
 * it is connected to the host. Source: decision 093.
 */
export const browserHosts = pgTable(
  "browser_hosts",
  {
    id: text("id").primaryKey(),
    /** `local`: started by the service; `remote`: started by an operator; `sandbox`: in the sandbox of one session. */
    home: text("home").$type<HostHome>().notNull(),
    /** The session of a host in a sandbox; null for other hosts. */
    sessionId: text("session_id").references(() => sessions.id, { onDelete: "cascade" }),
    /** Identifies the machine of a local host: its URL is on the loopback interface of that machine. Null otherwise. */
    machine: text("machine"),
    /** WebSocket URL at which the host listens. */
    url: text("url").notNull(),
    /**
     * URL of a process of the service that is connected to the host, for processes that cannot reach the host themselves.
     * Null if no such process can be reached from other machines.
     */
    relayUrl: text("relay_url"),
    /** The token that the host demands, encrypted. */
    sealedToken: text("sealed_token").notNull(),
    /** Version of the host's calls. A service uses only hosts of its own version. */
    protocol: integer("protocol").notNull(),
    /** Number of browsers that the host runs at most; 0 if it is about to end and takes no new sessions. */
    places: integer("places").notNull(),
    /** Number of sessions whose browser runs, starts or waits for a place at the host. */
    load: integer("load").notNull().default(0),
    /** Until when the host may run scripts and input. */
    leaseUntil: instant("lease_until").notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    oneOf("browser_hosts_home", table.home, HOST_HOMES),
    uniqueIndex("browser_hosts_session").on(table.sessionId),
  ],
);
