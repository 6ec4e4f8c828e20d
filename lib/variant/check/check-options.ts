import { z } from "zod";

const PAGES_MAX = 5;
/** The longest sequence of clicks with which a check opens something. */
export const OPEN_STEPS_MAX = 5;

/** How a check is to be carried out, as the agent and people can choose it. Every field has a default. */
export const checkOptionsSchema = z.strictObject({
  viewports: z
    .array(z.enum(["desktop", "tablet", "phone"]))
    .min(1, { error: "must name a viewport" })
    .max(3, { error: "must name at most 3 viewports" })
    .default(["desktop", "phone"])
    .meta({ description: "The viewport widths at which each page is checked." }),
  tag: z.enum(["async", "blocking"]).default("async").meta({
    description:
      "How the page loads the published script. Use blocking only if a person has chosen a tag without async.",
  }),
  pages: z
    .array(
      z.strictObject({
        url: z.string().max(8_192, { error: "must be at most 8,192 characters" }),
        open: z
          .array(
            z.strictObject({
              click: z
                .string()
                .min(1, { error: "must not be empty" })
                .max(1_000, { error: "must be at most 1,000 characters" }),
            }),
          )
          .max(OPEN_STEPS_MAX, { error: `must hold at most ${OPEN_STEPS_MAX} steps` }),
      }),
    )
    .max(PAGES_MAX, { error: `must hold at most ${PAGES_MAX} pages` })
    .default([])
    .meta({
      description:
        "Addresses to open, and what to click there, in this order, before the page is looked at: for changes in a menu, a tab, a dialog or an accordion. `click` is a CSS selector.",
    }),
  allowSubmits: z.boolean().default(false).meta({
    description:
      "Whether forms and buttons that the check operates may send requests with effects, such as POST. Only if a person has asked for it.",
  }),
});
