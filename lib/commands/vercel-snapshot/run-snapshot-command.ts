import type { Bubblewrap } from "#lib/sandbox/vercel/image-record.ts";
import { type MadeSnapshot, makeSnapshot } from "./make-snapshot.ts";

/** Makes a snapshot. @returns the lines to print. */
export async function runSnapshotCommand(options: Parameters<typeof makeSnapshot>[0]) {
  return { isDone: true, lines: describeSnapshot(await makeSnapshot(options)) };
}

const BUBBLEWRAP: Record<Bubblewrap, string> = {
  user: "bubblewrap works as the user of the machine",
  sudo: "bubblewrap works as root only",
  none: "! bubblewrap does NOT work, neither as the user of the machine nor as root",
};

function describeSnapshot({ id, expiresAt, record }: MadeSnapshot): string[] {
  const { chromium, bubblewrap } = record;
  return [
    `${chromium.version}, ${chromium.hasSandbox ? "with" : "WITHOUT"} its own sandbox`,
    BUBBLEWRAP[bubblewrap],
    "",
    `VERCEL_SANDBOX_SNAPSHOT=${id}`,
    expiresAt === undefined
      ? "The snapshot does not expire."
      : `The snapshot expires on ${expiresAt.toISOString()}. Make a new one before, and set the variable to its id.`,
  ];
}
