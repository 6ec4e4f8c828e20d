import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelMessage } from "ai";
import sharp from "sharp";
import { readOutput } from "../history/read-output.ts";
import { referToPicture, showPictures } from "./show-pictures.ts";

/** A tool message whose only result has these pictures. */
const shot = (...ids: string[]): ModelMessage => ({
  role: "tool",
  content: [
    {
      type: "tool-result",
      toolCallId: ids.join(),
      toolName: "screenshot",
      output: {
        type: "content",
        value: [{ type: "text", text: "Taken." }, ...ids.map((id) => referToPicture(id, "image/png"))],
      },
    },
  ],
});
const bytesOf = (id: string) =>
  id === "gone" ? undefined : { bytes: id === "lost" ? undefined : Buffer.from(id) };
const access = (supportsImages: boolean) =>
  ({
    model: { supportsImages },
    evidence: { read: async (_sessionId: string, id: string) => bytesOf(id) },
  }) as unknown as Parameters<typeof showPictures>[0]; // `showPictures` uses only these two fields.

/** Returns all pictures of the messages: the bytes of each as text, or the text that replaces it. */
async function showAll(supportsImages: boolean, messages: ModelMessage[]) {
  const shown = await showPictures(access(supportsImages), "ses_1", messages);
  return shown.flatMap((message) => {
    const part = message.role === "tool" ? message.content[0] : undefined;
    const [, ...items] =
      part?.type === "tool-result" && part.output.type === "content" ? part.output.value : [];
    return items.map((item) => {
      if (item.type === "file" && item.data.type === "data")
        return Buffer.from(String(item.data.data), "base64").toString();
      return item.type === "text" ? item.text : undefined;
    });
  });
}

const show = (supportsImages: boolean, ...ids: string[]) =>
  showAll(
    supportsImages,
    ids.map((id) => shot(id)),
  );

describe("pictures in a prompt", () => {
  it("are at most eight; the ninth hides four of the oldest, which become a line that names them", async () => {
    const eight = [..."abcdefgh"];
    assert.deepEqual(await show(true, ...eight), eight);
    const hidden = [..."abcd"].map((id) => `[picture ${id}, not shown again]`);
    assert.deepEqual(await show(true, ...eight, "i"), [...hidden, ..."efghi"]);
    assert.deepEqual(await show(true, ...eight, ..."ijkl"), [...hidden, ..."efghijkl"]);
  });

  it("whose bytes are missing are a line that says so", async () => {
    assert.deepEqual(await show(true, "a", "b", "c", "d", "lost"), [
      "a",
      "b",
      "c",
      "d",
      "[picture lost cannot be shown: its file is missing: it was lost, or it is in the data folder of another process of the service]",
    ]);
  });

  it("that a caller attached to a message are counted like those of tools", async () => {
    const attached = (text: string, id: string): ModelMessage => ({
      role: "user",
      content: [
        { type: "text", text },
        { type: "text", text: `evidence:${id};image/png` },
      ],
    });
    const messages = [attached("See", "a"), ...[..."bcdefgh"].map((id) => shot(id))];
    const shownTo = async (supportsImages: boolean, all: ModelMessage[]) =>
      (await showPictures(access(supportsImages), "ses_1", all))[0]?.content;
    const picture = { type: "file", mediaType: "image/png", data: { type: "data", data: "YQ==" } };
    assert.deepEqual(await shownTo(true, messages), [{ type: "text", text: "See" }, picture]);
    const line = { type: "text", text: "[picture a, not shown again]" };
    assert.deepEqual(await shownTo(true, [...messages, shot("i")]), [{ type: "text", text: "See" }, line]);
    assert.deepEqual(await shownTo(false, messages), [{ type: "text", text: "See" }, line]);
  });

  it("are counted also if one result has many", async () => {
    assert.deepEqual(await showAll(true, [shot("a"), shot(..."bcdef"), shot(..."ghi")]), [
      ...[..."abcd"].map((id) => `[picture ${id}, not shown again]`),
      ..."efghi",
    ]);
  });

  it("are lines if the model does not accept images", async () => {
    assert.deepEqual(await show(false, "a"), ["[picture a, not shown again]"]);
  });

  it("are lines if the file is gone", async () => {
    assert.deepEqual(await show(true, "gone"), ["[picture gone, not shown again]"]);
  });

  it("leave messages without pictures as they are", async () => {
    const messages: ModelMessage[] = [{ role: "user", content: "evidence:evi_1;image/png" }];
    assert.deepEqual(await showPictures(access(true), "ses_1", messages), messages);
  });

  it("of a part show that part in the size that its result describes, and others fit the limit of models", async () => {
    const grey = { width: 1280, height: 6_000, channels: 3, background: "#888" } as const;
    const stored = await sharp({ create: grey }).png().toBuffer();
    const deps = {
      model: { supportsImages: true },
      evidence: { read: async () => ({ bytes: stored }) },
    } as unknown as Parameters<typeof showPictures>[0]; // `showPictures` uses only these two fields.
    const part = { top: 1_500, height: 1_200 };
    const references = [referToPicture("a", "image/png", part), referToPicture("b", "image/png")];
    const output = { type: "content" as const, value: references };
    assert.deepEqual(readOutput(output).pictures, ["a", "b"]);
    const message: ModelMessage = {
      role: "tool",
      content: [{ type: "tool-result", toolCallId: "call", toolName: "screenshot", output }],
    };
    const [shown] = await showPictures(deps, "ses_1", [message]);
    const result = shown?.role === "tool" ? shown.content[0] : undefined;
    const items =
      result?.type === "tool-result" && result.output.type === "content" ? result.output.value : [];
    const sizes = items.map(async (item) => {
      assert.ok(item.type === "file" && item.data.type === "data");
      const { width, height } = await sharp(Buffer.from(String(item.data.data), "base64")).metadata();
      return [item.mediaType, width, height];
    });
    assert.deepEqual(await Promise.all(sizes), [
      ["image/jpeg", 1280, 1200],
      ["image/jpeg", 335, 1568],
    ]);
  });
});
