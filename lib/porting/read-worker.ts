import { parentPort } from "node:worker_threads";
import { readDocumentText } from "./read-document.ts";

// The entry of the thread that reads one large document.

parentPort?.once("message", (bytes: Uint8Array) => parentPort?.postMessage(readDocumentText(bytes)));
