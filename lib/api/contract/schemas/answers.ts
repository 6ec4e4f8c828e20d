import { z } from "zod";
import { runId, sessionId } from "#lib/events/wire-values.ts";

/** The field with which most JSON responses begin. Errors have `success: false`. */
export const success = z.literal(true);

/** What the turns of a session are doing. */
export const turnState = z.enum(["idle", "running", "compacting"]).meta({
  id: "TurnState",
  description:
    "`running` from the moment a request is accepted until no request is open. A request is open until its last run, including automatic retries, has ended. `compacting` while the running turn shortens the agent's context. Otherwise `idle`.",
});

export const stoppedSchema = z
  .object({
    success,
    sessionId,
    runId: runId.describe("Id of the run that is being stopped, or null if no turn was running.").nullable(),
  })
  .meta({ id: "TurnStopped" });

export const settledSchema = z.object({ success }).meta({ id: "Settled" });

/** Schema of one page of a list: `{ success, data, nextCursor }`. Source: `wire.md`, Also served. */
export const listOf = <Item extends z.ZodType>(item: Item) =>
  z
    .object({
      success,
      data: z.array(item),
      nextCursor: z
        .string()
        .nullable()
        .meta({
          description: "Pass it as `cursor` to get the next page. Null on the last page.",
          examples: [null],
        }),
    })
    .meta({ id: `${z.globalRegistry.get(item)?.id ?? "Item"}Page` });
