/** The client for programs: it imports nothing but the platform, and is built by `npm run build:client`. */
export type { AnswerOf, CallOptions, InputOf, OperationName } from "./published/call-operation.ts";
export { type Client, type ClientOptions, createClient } from "./published/create-client.ts";
export { ApiError, ConnectionError, DeliverableError, WaitTimeoutError } from "./published/errors.ts";
export type { FollowOptions, RequestRef, StreamEvent } from "./published/follow-events.ts";
export type { LiveOptions, LiveSession, LiveStatus, ScreencastFrame } from "./published/open-live.ts";
export {
  type CallbackBody,
  CallbackSignatureError,
  type VerifiedCallback,
  verifyCallback,
} from "./published/verify-callback.ts";
export type { WaitOptions } from "./published/wait-for.ts";
export type * from "./published/wire.ts";
