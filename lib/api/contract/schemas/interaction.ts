import { z } from "zod";
import { INTERACTION_MODES } from "#db/schema/unions.ts";

/** Whether turns that no person started ask people. Source: `wire.md`, Inbox. */
export const interactionSchema = z
  .strictObject({
    mode: z.enum(INTERACTION_MODES).meta({
      description:
        "`ask`: turns that no person started ask people too, and wait for their answers. `decline`, the default of a session without `interaction`: such turns are told at once that no person can answer.",
    }),
    timeoutSeconds: z
      .number({ error: "must be an integer from 10 to 604800" })
      .refine((seconds) => Number.isInteger(seconds) && seconds >= 10 && seconds <= 604_800, {
        error: "must be an integer from 10 to 604800",
      })
      .optional()
      .meta({
        shownAs: { type: "integer", minimum: 10, maximum: 604_800 },
        default: 86_400,
        description: "How long such a turn waits for an answer.",
        examples: [3_600],
      }),
    onTimeout: z.enum(["continue", "fail"]).optional().meta({
      default: "continue",
      description:
        "What happens if no one answers in time. `continue`: the agent is told so. `fail`: the run ends `errored`, without a retry.",
    }),
  })
  .meta({
    id: "Interaction",
    description: "Whether turns that no person started ask people. Sub-agents inherit it.",
  });

/** The `interaction` of a session, with its defaults. */
export const interactionRecordSchema = z
  .object({
    mode: z.enum(INTERACTION_MODES),
    timeoutSeconds: z.int(),
    onTimeout: z.enum(["continue", "fail"]),
  })
  .meta({ id: "InteractionRecord" });
