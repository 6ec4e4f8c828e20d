import { z } from "zod";
import { INBOX_KINDS, INBOX_SETTLERS, INBOX_STATES } from "#db/schema/unions.ts";
import { timestamp } from "./wire-values.ts";

/** The id of an item of the inbox. */
const itemId = z
  .string()
  .meta({ description: "Id of the item in the inbox.", examples: ["itm_b4wq2nxzkt7mpycr5hvjd3sa"] });

/** An item of the inbox in the events of the run that waits for it. It has no text, form, arguments or link. */
export const waitingItemSchema = z
  .object({
    id: itemId,
    kind: z.enum(INBOX_KINDS),
    agentName: z.string().optional().meta({ description: "Name of the sub-agent that waits, if one does." }),
    title: z.string().meta({ examples: ["Which currency?"] }),
    createdAt: timestamp,
    expiresAt: timestamp.nullable().describe("When the item expires. Null if it has no deadline."),
  })
  .meta({ id: "WaitingItem", description: "An item of the inbox, without its details." });

/** An item for which a run waits no longer. */
export const resumedItemSchema = waitingItemSchema
  .extend({
    state: z.enum(INBOX_STATES).exclude(["open"]).meta({ description: "How the item ended." }),
    settledBy: z
      .enum(INBOX_SETTLERS)
      .optional()
      .meta({ description: "Who settled the item. Absent if the service closed it." }),
  })
  .meta({ id: "ResumedItem", description: "An item of the inbox that has ended, without its details." });

/** The item in the body of the callback `run.waiting`. Only there it has its link: an event never contains it. */
export const linkedItemSchema = waitingItemSchema
  .extend({
    answerUrl: z
      .string()
      .optional()
      .meta({
        description:
          "Link to a page on which anyone who has the link settles this item, once, until it expires. Absent for a budget.",
        examples: ["https://service.example/answer/itm_b4wq2nxzkt7mpycr5hvjd3sa?key=…"],
      }),
  })
  .meta({ id: "LinkedItem", description: "An item of the inbox, with the link that settles it." });
