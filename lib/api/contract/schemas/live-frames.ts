import { z } from "zod";
import { SHARE_ROLES } from "#db/schema/unions.ts";
import { EDITING_COMMANDS } from "#lib/browser/browser-service.ts";
import { CONTROL_NOTE_MAX } from "#lib/browser/view/control-state.ts";
import { eventSchemas, messageDeltaSchema } from "#lib/events/event-schemas.ts";
import { count, sessionId, timestamp } from "#lib/events/wire-values.ts";
import { stageStateSchema, tabId, widgetAnswerSchema, widgetId } from "./stage-schemas.ts";

const common = { sessionId, timestamp };
const nothing = z.object({});

const notice = <const Type extends string, Data extends z.ZodType>(
  type: Type,
  description: string,
  data: Data,
) => z.object({ type: z.literal(type), ...common, data }).describe(description);

const eventFrames = Object.entries(eventSchemas).map(([kind, data]) =>
  z.object({ type: z.literal(kind), seq: count, ...common, data }),
);

/** One JSON text frame that the service sends over the live socket. Source: `wire.md`, WebSocket. */
export const liveFrameSchema = z
  .union([
    z
      .object({
        type: z.literal("ready"),
        lastSeq: count,
        ...common,
        data: z.object({
          role: z.enum(SHARE_ROLES),
          watching: count,
          connectionId: z.string().meta({
            description:
              "Id of this connection. The page sends it with each navigation, so that the service knows whether this connection has control.",
          }),
        }),
      })
      .describe(
        "The first frame, sent when the connection is accepted. `lastSeq` is the sequence number of the last event stored by then. The frame is not an event, so it has no `seq`.",
      ),
    ...eventFrames,
    notice("message.delta", "A chunk of a message that the model is writing.", messageDeltaSchema),
    notice("watching", "Number of connections that follow the session.", z.object({ watching: count })),
    notice(
      "control",
      "Who has control of the browser: this connection (`you`), another connection (`someone`) or no person (null). While it is null, the agent has control for as long as its turn runs. The service drops input from connections without control.",
      z.object({
        holder: z.enum(["you", "someone"]).nullable(),
        name: z
          .string()
          .nullable()
          .meta({
            description:
              "Name of the person who has control: the label of their share link, or `Someone`. Null if no person has control.",
            examples: ["Ada"],
          }),
        expiresAt: timestamp.nullable().meta({
          description: "When the person loses control, if that is near. Null otherwise.",
        }),
        expiresBecause: z.enum(["idle", "away"]).nullable().meta({
          description:
            "`idle`: there was no input; input or `control.keep` keeps control. `away`: the person's connection has ended.",
        }),
        ended: z
          .enum(["given_back", "idle", "away", "taken", "revoked", "host"])
          .nullable()
          .meta({ description: "Why the last person's control ended. Null while a person has control." }),
        isPrivate: z.boolean().meta({
          description:
            "Whether the browser is handed over to a person. Only the connection that has control gets frames then.",
        }),
        problem: z
          .string()
          .optional()
          .meta({ description: "Why this connection's `control.take` had no effect." }),
      }),
    ),
    notice(
      "control.token",
      "This connection has got control. A later connection of the same client gets it back with `control.resume` and this token, which works once. Keep it secret.",
      z.object({ token: z.string() }),
    ),
    notice(
      "cursor",
      "The CSS cursor that the page shows at the position of this connection's pointer.",
      z.object({ cursor: z.string() }),
    ),
    notice(
      "pointer",
      "The agent moved or pressed the pointer. Coordinates are CSS pixels of the page.",
      z.object({ kind: z.enum(["move", "down"]), x: z.number(), y: z.number() }),
    ),
    notice(
      "clipboard",
      "What the frame `input.copy` with this `id` has copied, only for the connection that sent it. `text` is null if there is nothing to copy, `html` if it has no formatting.",
      z.object({ id: z.int(), text: z.string().nullable(), html: z.string().nullable() }),
    ),
    notice(
      "stage",
      "What the live browser shows besides its picture. Sent to a connection that subscribed to the view with `stage`: once, and after each change. Texts come from the page.",
      stageStateSchema,
    ),
    notice("queue", "The queue of messages changed. List it again.", nothing),
    notice("pong", "Reply to `ping`.", nothing),
  ])
  .meta({
    id: "LiveFrame",
    description: "A text frame from the service. `type` determines its fields. Ignore unknown types.",
  });

const COORDINATE_MAX = 1_000_000;

const coordinate = z.number().min(-COORDINATE_MAX).max(COORDINATE_MAX);
const modifiers = z
  .int()
  .min(0)
  .max(15)
  .meta({ description: "Pressed modifier keys, as a bit field: Alt 1, Ctrl 2, Meta 4, Shift 8." });
/** More fingers than a person has on a screen. */
const FINGERS_MAX = 10;
const COMPOSED_MAX = 1_000;
const VIEWPORT_MIN = 240;
const VIEWPORT_MAX = 2_560;
const keyName = z.string().min(1).max(64);
const point = { x: coordinate, y: coordinate };
const position = { x: coordinate, y: coordinate, modifiers };

/** One JSON text frame that a client sends over the live socket. Coordinates are CSS pixels of the page. */
export const liveClientFrameSchema = z
  .discriminatedUnion("type", [
    // Allows all visible ASCII characters, because the token may be an API key, which can contain any of them.
    z.strictObject({ type: z.literal("auth"), token: z.string().regex(/^[\x21-\x7e]{1,1000}$/) }),
    z.strictObject({
      type: z.literal("view.subscribe"),
      stage: z.literal(true).exactOptional().meta({
        description:
          "Also send `stage` frames. While a connection with `stage` watches, the dialogs and file choosers of pages wait for the person who has control.",
      }),
    }),
    z.strictObject({ type: z.literal("view.unsubscribe") }),
    z.strictObject({ type: z.literal("control.take") }),
    z.strictObject({ type: z.literal("control.resume"), token: z.string().min(1).max(100) }),
    z.strictObject({ type: z.literal("control.keep") }),
    z.strictObject({
      type: z.literal("control.release"),
      note: z
        .string()
        .max(CONTROL_NOTE_MAX)
        .exactOptional()
        .meta({ description: "A note to the agent, which its next tool result begins with." }),
    }),
    z.strictObject({ type: z.literal("ping") }),
    z.strictObject({
      type: z.literal("input.mouse"),
      action: z.enum(["move", "down", "up"]),
      button: z.enum(["left", "middle", "right", "none"]),
      clickCount: z.int().min(0).max(10),
      ...position,
    }),
    z.strictObject({ type: z.literal("input.wheel"), deltaX: coordinate, deltaY: coordinate, ...position }),
    z.strictObject({
      type: z.literal("input.key"),
      action: z.enum(["down", "up"]),
      key: keyName,
      code: z.string().max(64),
      modifiers,
      text: z.string().max(64).exactOptional(),
      isRepeat: z
        .boolean()
        .meta({ description: "Whether the key was already down, because a person holds it." })
        .exactOptional(),
      commands: z
        .array(z.enum(EDITING_COMMANDS))
        .max(4)
        .meta({ description: "Editing commands that the key stands for, instead of what it does by itself." })
        .exactOptional(),
    }),
    z.strictObject({
      type: z.literal("input.touch"),
      action: z.enum(["start", "move", "end", "cancel"]),
      points: z
        .array(
          z.strictObject({
            id: z
              .int()
              .min(0)
              .max(FINGERS_MAX - 1),
            ...point,
          }),
        )
        .max(FINGERS_MAX)
        .meta({ description: "The fingers that are on the page after the action." }),
      modifiers,
    }),
    z
      .strictObject({
        type: z.literal("input.compose"),
        text: z.string().max(COMPOSED_MAX),
        selectionStart: z.int().min(0).max(COMPOSED_MAX),
        selectionEnd: z.int().min(0).max(COMPOSED_MAX),
      })
      .meta({
        description:
          "The text that an input method is composing. The page shows it; `input.text` replaces it, and an empty text removes it.",
      }),
    z
      .strictObject({ type: z.literal("input.copy"), action: z.enum(["copy", "cut"]), id: z.int().min(0) })
      .meta({
        description:
          "A person has pressed the keys for copying or cutting. The answer is a `clipboard` frame with the same `id`.",
      }),
    z
      .strictObject({
        type: z.literal("viewport.set"),
        size: z
          .strictObject({
            width: z.int().min(VIEWPORT_MIN).max(VIEWPORT_MAX),
            height: z.int().min(VIEWPORT_MIN).max(VIEWPORT_MAX),
          })
          .nullable(),
        scale: z.number().min(1).max(3),
      })
      .meta({
        description:
          "Changes the size of the page in CSS pixels (null: not), and how many pixels its pictures have for a CSS pixel while this connection has control.",
      }),
    z.strictObject({ type: z.literal("input.text"), text: z.string() }),
    z
      .strictObject({
        type: z.literal("input.paste"),
        text: z.string(),
        html: z.string().exactOptional(),
        isEvent: z.boolean().exactOptional(),
      })
      .meta({
        description:
          "Inserts text. With `isEvent`, the page first gets a paste event with `text` and `html`; if it does not handle the event, the text is inserted, or the HTML where the page's text can have formatting.",
      }),
    z
      .strictObject({ type: z.literal("input.widget"), widgetId, answer: widgetAnswerSchema })
      .describe("Answers the widget of the stage."),
    z.strictObject({ type: z.literal("input.tab"), action: z.enum(["show", "close"]), tabId }),
    z.strictObject({ type: z.literal("input.stop") }).describe("Ends the loading of the shown page."),
  ])
  .meta({
    id: "LiveClientFrame",
    description: "A text frame from a client. Coordinates are CSS pixels of the page.",
  });

export type LiveClientFrame = z.output<typeof liveClientFrameSchema>;
