CREATE TABLE "imported_messages" (
	"import_id" text NOT NULL,
	"position" integer NOT NULL,
	"original_id" text NOT NULL,
	"role" text NOT NULL,
	"parts" json NOT NULL,
	"results" json NOT NULL,
	"author" text,
	"written_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "imported_messages_import_id_position_pk" PRIMARY KEY("import_id","position"),
	CONSTRAINT "imported_messages_role" CHECK ("imported_messages"."role" in ('user', 'assistant'))
);
--> statement-breakpoint
CREATE TABLE "imports" (
	"id" text PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"document_id" text NOT NULL,
	"format" text NOT NULL,
	"title" text,
	"source_session_id" text,
	"exported_at" timestamp (3) with time zone,
	"author" text NOT NULL,
	"run_id" text,
	"call_id" text,
	"variants" json NOT NULL,
	"message_count" integer NOT NULL,
	"left_out" json NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "imports_document" UNIQUE("session_id","document_id"),
	CONSTRAINT "imports_call" UNIQUE("run_id","call_id"),
	CONSTRAINT "imports_format" CHECK ("imports"."format" in ('agent-session', 'agent-session-variant', 'growthbook', 'posthog')),
	CONSTRAINT "imports_author" CHECK ("imports"."author" in ('agent', 'person'))
);
--> statement-breakpoint
ALTER TABLE "imported_messages" ADD CONSTRAINT "imported_messages_import_id_imports_id_fk" FOREIGN KEY ("import_id") REFERENCES "public"."imports"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "imports" ADD CONSTRAINT "imports_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "imports_session" ON "imports" USING btree ("session_id","created_at","id");