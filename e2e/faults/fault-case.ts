import type { Evidence } from "./world/evidence.ts";
import type { World } from "./world/open-world.ts";

/** One case of the campaign: a fault that hits the service while clients use it. */
export type FaultCase = {
  /** `K07`, or a word. `--only` selects cases by this name. */
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
  /** Largest number of seeds to play; omit to play as many as `--seeds` says. */
  seedsMax?: number;
  /** The only kind of database that the case applies to; omit for both. */
  onlyOn?: "embedded" | "server";
  /** Needs the machine or the database server to itself: no other case is played at the same time. */
  runsAlone?: boolean;
  /** Plays the case until every request of the clients is completed. A throw counts as a violation. */
  play: (world: World) => Promise<void>;
  /** Checks what this fault must lead to, in addition to the invariants. */
  findViolations?: (evidence: Evidence) => string[];
};
