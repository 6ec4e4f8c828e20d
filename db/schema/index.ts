export * from "./browsers.ts";
export * from "./callbacks.ts";
export * from "./engine.ts";
export * from "./keys.ts";
export * from "./outbox.ts";
export * from "./runs.ts";
export * from "./sessions.ts";
export * from "./unions.ts";
