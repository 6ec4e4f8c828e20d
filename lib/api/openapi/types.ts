import type { HeaderObject } from "./document/headers.ts";
import type { Components, JsonSchema } from "./json-schema.ts";

type Ref = { $ref: string };

/** A body in one media type: its schema and examples. */
export type MediaObject = {
  schema?: JsonSchema;
  example?: unknown;
  examples?: Record<string, { summary: string; value: unknown }>;
};

export type ResponseObject = {
  description: string;
  headers?: Record<string, Ref | HeaderObject>;
  content?: Record<string, MediaObject>;
};

export type ParameterObject = {
  name: string;
  in: "path" | "query" | "header";
  description?: string;
  required?: boolean;
  schema: JsonSchema;
  example?: unknown;
};

export type OperationObject = {
  operationId: string;
  summary: string;
  description?: string;
  tags?: string[];
  security?: Record<string, string[]>[];
  parameters?: (ParameterObject | Ref)[];
  requestBody?: { description?: string; required: boolean; content: Record<string, MediaObject> };
  responses: Record<string, ResponseObject | Ref>;
  /** Schemas of the frames that are sent over the WebSocket after the upgrade. */
  "x-websocket"?: { serverFrame: JsonSchema; clientFrame: JsonSchema };
};

/** The operations of one path or webhook, by method in lower case. */
export type PathItem = Partial<Record<string, OperationObject>>;

/** The subset of OpenAPI 3.1 that the document uses. */
export type OpenApiDocument = {
  openapi: "3.1.1";
  info: {
    title: string;
    version: string;
    summary: string;
    description: string;
  };
  servers: { url: string; description: string }[];
  security: Record<string, string[]>[];
  tags: { name: string; description: string }[];
  paths: Record<string, PathItem>;
  webhooks: Record<string, PathItem>;
  components: {
    securitySchemes: Record<string, Record<string, string>>;
    headers: Record<string, HeaderObject>;
    parameters: Record<string, ParameterObject>;
    responses: Record<string, ResponseObject>;
    schemas: Components;
  };
};
