import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelMessage } from "ai";
import { referToPicture, showPictures } from "./show-pictures.ts";

const shot = (id: string): ModelMessage => ({
  role: "tool",
  content: [
    {
      type: "tool-result",
      toolCallId: id,
      toolName: "screenshot",
      output: { type: "content", value: [{ type: "text", text: "Taken." }, referToPicture(id, "image/png")] },
    },
  ],
});
const bytesOf = (id: string) => (id === "gone" ? undefined : { bytes: Buffer.from(id) });
const access = (supportsImages: boolean) =>
  ({
    model: { supportsImages },
    evidence: { read: async (_sessionId: string, id: string) => bytesOf(id) },
  }) as unknown as Parameters<typeof showPictures>[0]; // `showPictures` uses only these two fields.

/** Returns the picture of each message: its bytes as text, or the text that replaces it. */
async function show(supportsImages: boolean, ...ids: string[]) {
  const shown = await showPictures(access(supportsImages), "ses_1", ids.map(shot));
  return shown.map((message) => {
    const part = message.role === "tool" ? message.content[0] : undefined;
    const item =
      part?.type === "tool-result" && part.output.type === "content" ? part.output.value[1] : undefined;
    if (item?.type === "file" && item.data.type === "data")
      return Buffer.from(String(item.data.data), "base64").toString();
    return item?.type === "text" ? item.text : undefined;
  });
}

describe("pictures in a prompt", () => {
  it("are the newest four; older ones are a line that names them", async () => {
    assert.deepEqual(await show(true, "a", "b", "c", "d", "e"), [
      "[picture a, not shown again]",
      "b",
      "c",
      "d",
      "e",
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
