import { z } from "zod";
import { CHOSEN_FILE_BYTES_MAX } from "#lib/browser/stage/stage-state.ts";
import { count } from "#lib/events/wire-values.ts";
import { DRIVER_AUTH, defineOperation, MIB, type Operation } from "../operation.ts";
import { settledSchema, success } from "../schemas/answers.ts";
import { nameUpTo } from "../schemas/fields.ts";
import { widgetId } from "../schemas/stage-schemas.ts";

const workspaceFilesSchema = z
  .object({
    success,
    files: z.array(z.object({ path: z.string(), sizeBytes: count })),
    isComplete: z.boolean().describe("Whether these are all files. At most 500 are listed."),
  })
  .meta({ id: "WorkspaceFiles", description: "Files of the session's workspace." });

const of = {
  widgetId: widgetId.describe("Id of the widget `files` of the stage."),
  connectionId: nameUpTo(100).describe("Id of the visitor's live connection, which must have control."),
};

/** Operations with which a person gives files to a page that asks for some. Source: `wire.md`, The stage. */
export const browserFileOperations = {
  listBrowserFiles: defineOperation({
    method: "GET",
    path: "/s/:sessionId/actions/browser/files",
    summary: "List the files that a person can give to a page",
    description: "Lists the files of the workspace. Empty for a session without a workspace.",
    auth: DRIVER_AUTH,
    rate: "poll",
    answers: { 200: workspaceFilesSchema },
  }),
  addBrowserFile: defineOperation({
    method: "POST",
    path: "/s/:sessionId/actions/browser/files",
    summary: "Add a file for a page that asks for files",
    description:
      "The page gets the added files when the connection that has control answers the widget with `files`. A file has at most 10 MiB, and the page gets at most 20 files with 30 MiB together. Returns 409 if the page no longer asks, or if another connection or no person has control.",
    bodyExamples: {
      "A file": {
        widgetId: "0b6f2c",
        connectionId: "con_k2m4zqvbwcnr7xye3hjpdtas",
        name: "a.txt",
        content: "SGVsbG8=",
      },
      "A file of the workspace": {
        widgetId: "0b6f2c",
        connectionId: "con_k2m4zqvbwcnr7xye3hjpdtas",
        path: "downloads/report.csv",
      },
    },
    auth: DRIVER_AUTH,
    rate: "act",
    body: z.union([
      z.strictObject({
        ...of,
        name: nameUpTo(255),
        mediaType: nameUpTo(255).optional(),
        content: z
          .base64()
          .max(Math.ceil((CHOSEN_FILE_BYTES_MAX * 4) / 3) + 4)
          .describe("The bytes in base64."),
      }),
      z.strictObject({ ...of, path: nameUpTo(1_000).describe("Path of a file of the workspace.") }),
    ]),
    bodyBytesMax: 14 * MIB,
    requiresJsonType: true,
    errors: ["conflict"],
    answers: { 200: settledSchema },
  }),
} as const satisfies Record<string, Operation>;
