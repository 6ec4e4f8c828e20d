CREATE TABLE "test_results" (
	"test_run_id" text NOT NULL,
	"position" integer NOT NULL,
	"target" text NOT NULL,
	"file" text NOT NULL,
	"line" integer NOT NULL,
	"titles" jsonb NOT NULL,
	"status" text NOT NULL,
	"duration_ms" integer NOT NULL,
	"attempts" integer NOT NULL,
	"errors" jsonb NOT NULL,
	"steps" jsonb NOT NULL,
	"attachments" jsonb NOT NULL,
	"annotations" jsonb NOT NULL,
	"output" text NOT NULL,
	CONSTRAINT "test_results_test_run_id_position_pk" PRIMARY KEY("test_run_id","position"),
	CONSTRAINT "test_results_target" CHECK ("test_results"."target" in ('control', 'variant')),
	CONSTRAINT "test_results_status" CHECK ("test_results"."status" in ('passed', 'failed', 'flaky', 'skipped'))
);
--> statement-breakpoint
CREATE TABLE "test_runs" (
	"id" text PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"number" integer NOT NULL,
	"status" text DEFAULT 'queued' NOT NULL,
	"started_by" text NOT NULL,
	"request_id" text,
	"run_id" text,
	"call_id" text,
	"input" jsonb NOT NULL,
	"revision" integer,
	"counts" jsonb NOT NULL,
	"problem" text,
	"attempt" integer DEFAULT 0 NOT NULL,
	"owner" text,
	"job_number" integer DEFAULT 0 NOT NULL,
	"requested_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"cancel_requested_at" timestamp (3) with time zone,
	"started_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "test_runs_number" UNIQUE("session_id","number"),
	CONSTRAINT "test_runs_call" UNIQUE("run_id","call_id"),
	CONSTRAINT "test_runs_status" CHECK ("test_runs"."status" in ('queued', 'running', 'passed', 'failed', 'cancelled', 'interrupted')),
	CONSTRAINT "test_runs_started_by" CHECK ("test_runs"."started_by" in ('agent', 'person')),
	CONSTRAINT "test_runs_ended" CHECK (("test_runs"."ended_at" is null) = ("test_runs"."status" in ('queued', 'running')))
);
--> statement-breakpoint
ALTER TABLE "test_results" ADD CONSTRAINT "test_results_test_run_id_test_runs_id_fk" FOREIGN KEY ("test_run_id") REFERENCES "public"."test_runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "test_runs" ADD CONSTRAINT "test_runs_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "test_runs_open" ON "test_runs" USING btree ("status") WHERE status in ('queued', 'running');--> statement-breakpoint
CREATE INDEX "waits_tests" ON "waits" USING btree ("session_id") WHERE kind = 'tests' and ended_by is null;