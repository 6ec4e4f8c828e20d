import { z } from "zod";
import { count, timestamp } from "#lib/events/wire-values.ts";
import { defineOperation, MIB, type Operation, PUBLISHER_AUTH, READER_AUTH } from "../operation.ts";
import { settledSchema, success } from "../schemas/answers.ts";
import { wholeNumber } from "../schemas/queries.ts";

const FILES = "/api/sessions/:sessionId/files";

/** The most entries in one answer. */
const ENTRIES_MAX = 1_000;

const fileSchema = z
  .object({
    path: z.string().meta({
      description: "Path in the workspace. Bytes of a name that are not UTF-8 are written as `\\xHH`.",
      examples: ["notes/report.md"],
    }),
    type: z.enum(["file", "folder"]),
    sizeBytes: count.meta({ description: "Size in bytes. 0 for a folder.", examples: [2048] }),
    modifiedAt: timestamp.meta({ description: "When the content last changed. ISO 8601, UTC." }),
    mediaType: z
      .string()
      .nullable()
      .meta({
        description: "Media type according to the name. Null for a folder.",
        examples: ["text/markdown"],
      }),
  })
  .meta({ id: "WorkspaceFile", description: "A file or folder of a session's workspace." });

const fileListSchema = z
  .object({
    success,
    data: z.array(fileSchema),
    nextCursor: z
      .string()
      .nullable()
      .meta({
        description: "Pass it as `cursor` to get the next page. Null on the last page.",
        examples: [null],
      }),
    note: z
      .string()
      .nullable()
      .meta({
        description: "Why files of the session may be missing here. Null if all of them are here.",
        examples: [null],
      }),
  })
  .meta({ id: "WorkspaceFilePage" });

const listFilesQuerySchema = z.object({
  path: z
    .string()
    .max(1_024, { error: "must be at most 1,024 characters" })
    .optional()
    .meta({
      description: "The folder to list. Default: the whole workspace's root.",
      examples: ["downloads"],
    }),
  limit: wholeNumber(1, ENTRIES_MAX)
    .optional()
    .meta({ default: 200, description: "Maximum number of entries per page." }),
  cursor: z
    .string()
    .regex(/^[\w-]{1,500}$/, { error: "is not one that this list gave" })
    .optional()
    .meta({ description: "The `nextCursor` of the previous page." }),
});

const writtenSchema = z
  .object({ success, file: fileSchema })
  .meta({ id: "WorkspaceFileWritten", description: "The file as it was stored." });

const ifMatch = z.string().optional().meta({
  description:
    "`ETag` of the file to change, or `*` for any file. If the file is another one, the answer is 412.",
});

export const fileOperations = {
  listFiles: defineOperation({
    method: "GET",
    path: FILES,
    summary: "List the files of the workspace",
    description:
      "Lists one folder, by name. Links and special files are left out. Files that a page offered for download are in `downloads`, files that people attached to messages in `uploads`. A workspace that was not used yet is an empty list.",
    auth: READER_AUTH,
    rate: "poll",
    query: listFilesQuerySchema,
    errors: ["conflict"],
    answers: { 200: fileListSchema },
  }),
  readFile: defineOperation({
    method: "GET",
    path: `${FILES}/:filePath`,
    summary: "Download a file of the workspace",
    description:
      "Returns the bytes of a file, or the part that `Range` names. PNG, JPEG, WebP and GIF pictures and PDF files are sent inline, everything else as a download of the type `application/octet-stream`: no file of a workspace runs as a page of this service.",
    auth: READER_AUTH,
    rate: "poll",
    headers: z.object({
      Range: z.string().optional().meta({ description: "One range of bytes, such as `bytes=0-99`." }),
      "If-None-Match": z
        .string()
        .optional()
        .meta({ description: "`ETag` of a copy: if it is current, 304." }),
      "If-Range": z.string().optional().meta({
        description:
          "`ETag` that the file must still have for `Range` to apply. Otherwise the whole file is sent.",
      }),
    }),
    errors: ["conflict", "range_not_satisfiable"],
    answers: { 200: "stream", 206: "stream", 304: "stream" },
    media: {
      200: ["image/*", "application/pdf", "application/octet-stream"],
      206: ["image/*", "application/pdf", "application/octet-stream"],
    },
    answerHeaders: {
      200: ["ETag", "Accept-Ranges", "Last-Modified", "Cache-Control", "Content-Disposition"],
      206: [
        "ETag",
        "Accept-Ranges",
        "Content-Range",
        "Last-Modified",
        "Cache-Control",
        "Content-Disposition",
      ],
      304: ["ETag", "Cache-Control"],
    },
  }),
  writeFile: defineOperation({
    method: "PUT",
    path: `${FILES}/:filePath`,
    summary: "Write a file of the workspace",
    description:
      "Stores the body as a file, and creates the folders that lead to it. 201 if the file is new, 200 if it replaces another. With `If-None-Match: *` an existing file is not replaced, and with `ifExists=rename` the new file gets another name: `file.path` has it. The event `workspace.changed` tells watchers of the session.",
    auth: PUBLISHER_AUTH,
    rate: "act",
    takesBytes: true,
    query: z.object({
      ifExists: z.enum(["replace", "rename"]).optional().meta({
        default: "replace",
        description: "`rename`: if the name is taken, a number is added to it, as in `plan (2).pdf`.",
      }),
    }),
    bodyBytesMax: 16 * MIB,
    headers: z.object({
      "If-None-Match": z.literal("*").optional().meta({ description: "`*`: the file must be new." }),
      "If-Match": ifMatch,
    }),
    errors: ["invalid_request", "precondition_failed"],
    answers: { 200: writtenSchema, 201: writtenSchema },
    answerHeaders: { 200: ["ETag"], 201: ["ETag"] },
  }),
  removeFile: defineOperation({
    method: "DELETE",
    path: `${FILES}/:filePath`,
    summary: "Remove a file of the workspace",
    description: "Removes a file, a link (not its target) or an empty folder.",
    auth: PUBLISHER_AUTH,
    rate: "act",
    headers: z.object({ "If-Match": ifMatch }),
    errors: ["invalid_request", "precondition_failed"],
    answers: { 200: settledSchema },
  }),
} as const satisfies Record<string, Operation>;
