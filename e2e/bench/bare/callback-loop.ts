import { createHmac } from "node:crypto";

// A minimal baseline: it signs a body and posts it with `fetch`, with several requests open at a time. It records
// nothing.

const CONCURRENCY = 16;
const body = JSON.stringify({ event: "run.completed", data: { text: "x".repeat(600) } });

type Order = { url: string; secret: string; count: number };

async function send({ url, secret, count }: Order): Promise<void> {
  let left = count;
  const work = async () => {
    while (left-- > 0) {
      const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
      const headers = { "content-type": "application/json", "x-service-signature": signature };
      await (await fetch(url, { method: "POST", headers, body })).arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
}

process.on("message", (order: Order) => send(order).then(() => process.send?.("sent")));
process.on("disconnect", () => process.exit(0));
process.on("SIGTERM", () => process.exit(0));
process.send?.({ port: 0 });
