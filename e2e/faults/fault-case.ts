import type { Evidence } from "./world/evidence.ts";
import type { World } from "./world/open-world.ts";

/**
 * A case of the campaign: a fault occurs in the service, or in something it depends on, while clients use the service.
 */
export type FaultCase = {
  /** The name of a kill point, such as `K07`, or another short name. `--only` selects cases by name. */
  name: string;
  group:
    | "kill"
    | "throw"
    | "model"
    | "mcp"
    | "receiver"
    | "browser"
    | "database"
    | "concurrency"
    | "load"
    | "steering";
  title: string;
  /** The largest number of seeds with which the case is played. If omitted, `--seeds` is the only limit. */
  seedsMax?: number;
  /** If set, the case is played only on this kind of database. */
  onlyOn?: "embedded" | "server";
  /**
   * If true, no other case is played at the same time, because this case needs the whole machine or database server.
   */
  runsAlone?: boolean;
  /** How long a run may take; 7 minutes by default. */
  runMaxMs?: number;
  /** Plays the case until every request of the clients is completed. A thrown error counts as a violation. */
  play: (world: World) => Promise<void>;
  /** Finds violations of what this case requires in addition to the invariants. */
  findViolations?: (evidence: Evidence) => string[];
};
