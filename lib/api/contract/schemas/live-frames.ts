import { z } from "zod";
import { SHARE_ROLES } from "#db/schema/unions.ts";
import { eventSchemas, messageDeltaSchema } from "#lib/events/event-schemas.ts";
import { count, sessionId, timestamp } from "#lib/events/wire-values.ts";

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
      z.object({ holder: z.enum(["you", "someone"]).nullable() }),
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
const keyName = z.string().min(1).max(64);
const position = { x: coordinate, y: coordinate, modifiers };

/** One JSON text frame that a client sends over the live socket. Coordinates are CSS pixels of the page. */
export const liveClientFrameSchema = z
  .discriminatedUnion("type", [
    // Allows all visible ASCII characters, because the token may be an API key, which can contain any of them.
    z.strictObject({ type: z.literal("auth"), token: z.string().regex(/^[\x21-\x7e]{1,1000}$/) }),
    z.strictObject({ type: z.literal("view.subscribe") }),
    z.strictObject({ type: z.literal("view.unsubscribe") }),
    z.strictObject({ type: z.literal("control.take") }),
    z.strictObject({ type: z.literal("control.release") }),
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
    }),
    z.strictObject({ type: z.literal("input.text"), text: z.string() }),
    z.strictObject({ type: z.literal("input.paste"), text: z.string() }),
  ])
  .meta({
    id: "LiveClientFrame",
    description: "A text frame from a client. Coordinates are CSS pixels of the page.",
  });

export type LiveClientFrame = z.output<typeof liveClientFrameSchema>;
