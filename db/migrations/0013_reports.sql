CREATE TABLE "reports" (
	"id" text PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"title" text NOT NULL,
	"version" integer NOT NULL,
	"document" json NOT NULL,
	"counts" jsonb NOT NULL,
	"tested" jsonb NOT NULL,
	"run_id" text,
	"call_id" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "reports_version" UNIQUE("session_id","title","version"),
	CONSTRAINT "reports_call" UNIQUE("run_id","call_id"),
	CONSTRAINT "reports_version_min" CHECK ("reports"."version" >= 1)
);
--> statement-breakpoint
ALTER TABLE "reports" ADD CONSTRAINT "reports_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;