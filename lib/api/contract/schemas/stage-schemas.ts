import { z } from "zod";
import { FAILURE_KINDS, PICKER_TYPES, type StageState } from "#lib/browser/stage/stage-state.ts";
import { count } from "#lib/events/wire-values.ts";

/** Id of a tab of the live browser. */
export const tabId = z.string().min(1).max(100);
/** Id of a control that waits for a person. */
export const widgetId = z.string().min(1).max(100);

const text = z.string();
const box = z
  .object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() })
  .describe("Where the control is, in CSS pixels of the page.");

const widgetSchema = z.discriminatedUnion("kind", [
  z
    .object({
      id: widgetId,
      kind: z.literal("dialog"),
      dialog: z.enum(["alert", "confirm", "prompt", "beforeunload"]),
      host: text.describe("Host of the page that asks. Empty for a page without one."),
      message: text,
      defaultText: text.describe("Text with which a prompt begins."),
      mayMute: z.boolean().describe("Whether an answer may turn off the page's further dialogs."),
    })
    .describe("A dialog of a page. The page waits."),
  z
    .object({
      id: widgetId,
      kind: z.literal("select"),
      box,
      label: text,
      options: z.array(
        z.object({ label: text, group: text.nullable(), isDisabled: z.boolean(), isSelected: z.boolean() }),
      ),
      omitted: count.describe("Number of options that are not listed."),
    })
    .describe("The open list of a `<select>`."),
  z
    .object({
      id: widgetId,
      kind: z.literal("picker"),
      box,
      label: text,
      type: z.enum(PICKER_TYPES),
      value: text,
      min: text,
      max: text,
      step: text,
    })
    .describe("The open picker of an `<input>`."),
  z
    .object({
      id: widgetId,
      kind: z.literal("suggestions"),
      box,
      label: text,
      options: z.array(z.object({ value: text, label: text })),
    })
    .describe("Suggestions for the focused field, from its `<datalist>`."),
  z
    .object({
      id: widgetId,
      kind: z.literal("files"),
      isMultiple: z.boolean(),
      accept: text.describe("The `accept` attribute of the field."),
      files: z.array(z.object({ name: text, sizeBytes: count })).describe("The files added so far."),
    })
    .describe("A page asks for files."),
]);

/** What a connection that subscribed with `stage` gets. Source: `wire.md`, WebSocket. */
export const stageStateSchema: z.ZodType<StageState> = z.object({
  tabs: z
    .array(z.object({ id: tabId, title: text, url: text, isShown: z.boolean() }))
    .describe("The tabs, in the order in which they were opened. Empty while no browser runs."),
  isLoading: z.boolean(),
  failure: z
    .object({ id: count, url: text, kind: z.enum(FAILURE_KINDS), reason: text })
    .nullable()
    .describe("The document that could not be shown last. The page of before stays."),
  widget: widgetSchema.nullable().describe("The control that waits for the person who has control."),
});

const VALUE_CHARS_MAX = 10_000;
const OPTIONS_MAX = 1_000;

/** A person's answer to a widget. */
export const widgetAnswerSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("dialog"),
    isAccepted: z.boolean(),
    text: z.string().max(VALUE_CHARS_MAX).exactOptional(),
    isMuted: z.boolean().exactOptional(),
  }),
  z.strictObject({
    kind: z.literal("option"),
    chosen: z.int().min(0).max(OPTIONS_MAX).describe("Number of the option, counted from 0."),
  }),
  z.strictObject({ kind: z.literal("value"), value: z.string().max(VALUE_CHARS_MAX) }),
  z.strictObject({ kind: z.literal("files") }),
  z.strictObject({ kind: z.literal("cancel") }),
]);
