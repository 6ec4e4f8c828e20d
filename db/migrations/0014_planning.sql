CREATE TABLE "plans" (
	"session_id" text PRIMARY KEY NOT NULL,
	"mode" text DEFAULT 'off' NOT NULL,
	"items" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"revision" integer DEFAULT 0 NOT NULL,
	"author" text DEFAULT 'person' NOT NULL,
	"agent_revision" integer DEFAULT 0 NOT NULL,
	"person_revision" integer DEFAULT 0 NOT NULL,
	"last_item" integer DEFAULT 0 NOT NULL,
	"run_id" text,
	"call_id" text,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "plans_mode" CHECK ("plans"."mode" in ('off', 'plan_first', 'agreed')),
	CONSTRAINT "plans_author" CHECK ("plans"."author" in ('agent', 'person'))
);
--> statement-breakpoint
CREATE TABLE "requirements" (
	"session_id" text NOT NULL,
	"number" integer NOT NULL,
	"text" text NOT NULL,
	"status" text DEFAULT 'open' NOT NULL,
	"note" text,
	"evidence" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"assertion" jsonb,
	"outcome" jsonb,
	"author" text NOT NULL,
	"run_id" text,
	"call_id" text,
	"update_run_id" text,
	"update_call_id" text,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "requirements_session_id_number_pk" PRIMARY KEY("session_id","number"),
	CONSTRAINT "requirements_status" CHECK ("requirements"."status" in ('open', 'met', 'failed', 'waived')),
	CONSTRAINT "requirements_author" CHECK ("requirements"."author" in ('agent', 'person'))
);
--> statement-breakpoint
ALTER TABLE "plans" ADD CONSTRAINT "plans_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "requirements" ADD CONSTRAINT "requirements_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;