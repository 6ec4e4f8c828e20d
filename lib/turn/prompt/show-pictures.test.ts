import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelMessage } from "ai";
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
});
