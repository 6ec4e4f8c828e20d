import { parentPort } from "node:worker_threads";
import { readDocumentText } from "./read-document.ts";

// Entry point of the worker thread that reads one large document.

parentPort?.once("message", (bytes: Uint8Array) => parentPort?.postMessage(readDocumentText(bytes)));
