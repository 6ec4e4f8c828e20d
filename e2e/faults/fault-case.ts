import type { Evidence } from "./world/evidence.ts";
import type { World } from "./world/open-world.ts";

/** One fault of the campaign: what is done to the service while clients use it. */
export type FaultCase = {
  /** `K07`, or a word: what `--only` takes. */
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
  /** How many seeds are worth their time; those of the command line where it says nothing. */
  seedsMax?: number;
  /** The kind of database it makes sense on; both when omitted. */
  onlyOn?: "embedded" | "server";
  /** Needs the machine, or the database server, for itself: nothing is played beside it. */
  needsAll?: boolean;
  /** Plays it until the clients have what they asked for. A throw is a violation. */
  play: (world: World) => Promise<void>;
  /** What this fault in particular must have come to, beside the invariants. */
  findViolations?: (evidence: Evidence) => string[];
};
