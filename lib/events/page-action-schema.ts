import { z } from "zod";

/** What an agent's script did to the page, in the words of a person who does it. */
const PAGE_ACTIONS = [
  "opened",
  "reloaded",
  "went_back",
  "went_forward",
  "clicked",
  "hovered",
  "filled",
  "chose",
  "checked",
  "unchecked",
  "uploaded",
  "dragged",
  "typed",
  "pressed",
] as const;

/** One event names at most this many actions of a script. */
export const PAGE_ACTIONS_MAX = 20;

/** An action on the page: for `opened` with an address, otherwise with the name of an element. Never a value. */
export const pageActionSchema = z
  .object({
    did: z.enum(PAGE_ACTIONS),
    what: z
      .string()
      .nullable()
      .meta({
        description:
          "For `opened`: the address, without query and fragment. For `pressed`: the key. Otherwise: the name of the element, as the page or the script calls it. At most 120 characters. Null if it has none. Values that were filled in are never included.",
        examples: ["Add to cart"],
      }),
  })
  .meta({ id: "PageAction", description: "An action of the agent's script on the live page." });

export type PageAction = z.infer<typeof pageActionSchema>;
