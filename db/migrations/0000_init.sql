CREATE SEQUENCE "public"."engine_step_order" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE TABLE "annotations" (
	"id" text PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"event" text NOT NULL,
	"payload" json NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "browsers" (
	"session_id" text PRIMARY KEY NOT NULL,
	"status" text NOT NULL,
	"owner" text,
	"desired_url" text,
	"last_navigated_url" text,
	"current_url" text,
	"last_error" text,
	"retargets" integer DEFAULT 0 NOT NULL,
	"last_used_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "browsers_status" CHECK ("browsers"."status" in ('idle', 'creating', 'ready', 'expired', 'error'))
);
--> statement-breakpoint
CREATE TABLE "elicitations" (
	"id" text PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"run_id" text NOT NULL,
	"call_id" text NOT NULL,
	"question" text NOT NULL,
	"options" jsonb,
	"state" text DEFAULT 'open' NOT NULL,
	"answer" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"resolved_at" timestamp (3) with time zone,
	CONSTRAINT "elicitations_state" CHECK ("elicitations"."state" in ('open', 'answered', 'declined', 'unanswered'))
);
--> statement-breakpoint
CREATE TABLE "evidence" (
	"id" text PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"run_id" text,
	"kind" text NOT NULL,
	"title" text NOT NULL,
	"url" text,
	"media_type" text NOT NULL,
	"size_bytes" integer NOT NULL,
	"path" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "evidence_kind" CHECK ("evidence"."kind" in ('screenshot', 'preview', 'html', 'file'))
);
--> statement-breakpoint
CREATE TABLE "deliveries" (
	"id" text PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"run_id" text NOT NULL,
	"event" text NOT NULL,
	"body" text NOT NULL,
	"state" text DEFAULT 'pending' NOT NULL,
	"attempts_finished" integer DEFAULT 0 NOT NULL,
	"cycle" integer DEFAULT 1 NOT NULL,
	"generation" integer DEFAULT 1 NOT NULL,
	"next_attempt_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "deliveries_run_event" UNIQUE("run_id","event"),
	CONSTRAINT "deliveries_event" CHECK ("deliveries"."event" in ('run.started', 'run.completed')),
	CONSTRAINT "deliveries_state" CHECK ("deliveries"."state" in ('pending', 'sending', 'delivered', 'dropped')),
	CONSTRAINT "deliveries_attempts" CHECK ("deliveries"."attempts_finished" between 0 and 5)
);
--> statement-breakpoint
CREATE TABLE "delivery_attempts" (
	"delivery_id" text NOT NULL,
	"cycle" integer NOT NULL,
	"number" integer NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"status" integer,
	"latency_ms" integer NOT NULL,
	"error" text,
	"excerpt" text,
	CONSTRAINT "delivery_attempts_delivery_id_cycle_number_pk" PRIMARY KEY("delivery_id","cycle","number")
);
--> statement-breakpoint
CREATE TABLE "engine_events" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"body" json NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "engine_executors" (
	"id" text PRIMARY KEY NOT NULL,
	"lease_until" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "engine_runs" (
	"id" text PRIMARY KEY NOT NULL,
	"function_id" text NOT NULL,
	"event_id" text NOT NULL,
	"idempotency_key" text,
	"state" text DEFAULT 'running' NOT NULL,
	"epoch" integer DEFAULT 1 NOT NULL,
	"executor_id" text NOT NULL,
	"attempt" integer DEFAULT 0 NOT NULL,
	"wakes" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp (3) with time zone,
	"parent_run_id" text,
	"parent_step_id" text,
	"output" json,
	"error" json,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "engine_runs_idempotency_key" UNIQUE("function_id","idempotency_key"),
	CONSTRAINT "engine_runs_state" CHECK ("engine_runs"."state" in ('running', 'waiting', 'completed', 'failed', 'cancelled')),
	CONSTRAINT "engine_runs_ended_at" CHECK (("engine_runs"."state" in ('running', 'waiting')) = ("engine_runs"."ended_at" is null)),
	CONSTRAINT "engine_runs_parent" CHECK (("engine_runs"."parent_run_id" is null) = ("engine_runs"."parent_step_id" is null))
);
--> statement-breakpoint
CREATE TABLE "engine_steps" (
	"run_id" text NOT NULL,
	"step_id" text NOT NULL,
	"kind" text NOT NULL,
	"state" text NOT NULL,
	"name" text NOT NULL,
	"position" bigint,
	"attempt" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp (3) with time zone,
	"event_name" text,
	"expression" text,
	"output" json,
	"error" json,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "engine_steps_run_id_step_id_pk" PRIMARY KEY("run_id","step_id"),
	CONSTRAINT "engine_steps_kind" CHECK ("engine_steps"."kind" in ('run', 'sleep', 'event', 'invoke')),
	CONSTRAINT "engine_steps_state" CHECK ("engine_steps"."state" in ('pending', 'done', 'failed')),
	CONSTRAINT "engine_steps_ended" CHECK (("engine_steps"."state" = 'pending') = ("engine_steps"."position" is null)),
	CONSTRAINT "engine_steps_error" CHECK (("engine_steps"."state" = 'failed') = ("engine_steps"."error" is not null)),
	CONSTRAINT "engine_steps_event" CHECK (("engine_steps"."kind" = 'event') = ("engine_steps"."event_name" is not null))
);
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"owner_id" text NOT NULL,
	"name" text NOT NULL,
	"secret_hash" text NOT NULL,
	"scopes" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"expires_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "outbox" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"data" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"sent_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "removals" (
	"session_id" text PRIMARY KEY NOT NULL,
	"removed_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "deliverables" (
	"run_id" text PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"status" text NOT NULL,
	"value" json,
	"error" text,
	"raw_text" text,
	"violations" json,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "deliverables_status" CHECK ("deliverables"."status" in ('pending', 'ready', 'failed')),
	CONSTRAINT "deliverables_value" CHECK (("deliverables"."status" = 'ready') = ("deliverables"."value" is not null)),
	CONSTRAINT "deliverables_error" CHECK (("deliverables"."status" = 'failed') = ("deliverables"."error" is not null))
);
--> statement-breakpoint
CREATE TABLE "events" (
	"session_id" text NOT NULL,
	"seq" bigint NOT NULL,
	"kind" text NOT NULL,
	"request_id" text,
	"run_id" text,
	"body" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "events_session_id_seq_pk" PRIMARY KEY("session_id","seq")
);
--> statement-breakpoint
CREATE TABLE "messages" (
	"id" text PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"seq" integer,
	"index" integer DEFAULT 0 NOT NULL,
	"role" text NOT NULL,
	"parts" json NOT NULL,
	"request_id" text,
	"run_id" text,
	"author" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "messages_seq" UNIQUE("session_id","seq"),
	CONSTRAINT "messages_role" CHECK ("messages"."role" in ('user', 'assistant'))
);
--> statement-breakpoint
CREATE TABLE "requests" (
	"id" text PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"position" integer NOT NULL,
	"mode" text NOT NULL,
	"origin" text NOT NULL,
	"user_id" text,
	"idempotency_key" text,
	"body_hash" text NOT NULL,
	"joined_run_id" text,
	"joined_after_seq" bigint,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "requests_position" UNIQUE("session_id","position"),
	CONSTRAINT "requests_in_session" UNIQUE("id","session_id"),
	CONSTRAINT "requests_joined_both" CHECK (("requests"."joined_run_id" is null) = ("requests"."joined_after_seq" is null)),
	CONSTRAINT "requests_mode" CHECK ("requests"."mode" in ('queue', 'steer', 'interrupt')),
	CONSTRAINT "requests_origin" CHECK ("requests"."origin" in ('person', 'external', 'continuation', 'retry', 'subagent'))
);
--> statement-breakpoint
CREATE TABLE "runs" (
	"id" text PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"request_id" text NOT NULL,
	"attempt" integer NOT NULL,
	"origin" text NOT NULL,
	"state" text DEFAULT 'pending' NOT NULL,
	"epoch" integer DEFAULT 0 NOT NULL,
	"player" text,
	"generation" integer DEFAULT 1 NOT NULL,
	"error" text,
	"will_retry" boolean DEFAULT false NOT NULL,
	"is_compacting" boolean DEFAULT false NOT NULL,
	"not_before" timestamp (3) with time zone,
	"cancel_requested_at" timestamp (3) with time zone,
	"usage" jsonb,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "runs_attempt" UNIQUE("request_id","attempt"),
	CONSTRAINT "runs_state" CHECK ("runs"."state" in ('pending', 'running', 'succeeded', 'errored', 'cancelled')),
	CONSTRAINT "runs_origin" CHECK ("runs"."origin" in ('person', 'external', 'continuation', 'retry', 'subagent')),
	CONSTRAINT "runs_ended" CHECK (("runs"."state" in ('pending', 'running')) = ("runs"."ended_at" is null)),
	CONSTRAINT "runs_error" CHECK (("runs"."state" = 'errored') = ("runs"."error" is not null))
);
--> statement-breakpoint
CREATE TABLE "steps" (
	"run_id" text NOT NULL,
	"name" text NOT NULL,
	"session_id" text NOT NULL,
	"position" bigserial NOT NULL,
	"output" json NOT NULL,
	"model_messages" json,
	"replaces_through" bigint,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "steps_run_id_name_pk" PRIMARY KEY("run_id","name")
);
--> statement-breakpoint
CREATE TABLE "tool_calls" (
	"run_id" text NOT NULL,
	"call_id" text NOT NULL,
	"session_id" text NOT NULL,
	"result_id" text NOT NULL,
	"name" text NOT NULL,
	"input" json NOT NULL,
	"state" text NOT NULL,
	"result_text" text,
	"started_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "tool_calls_run_id_call_id_pk" PRIMARY KEY("run_id","call_id"),
	CONSTRAINT "tool_calls_result_id_unique" UNIQUE("result_id"),
	CONSTRAINT "tool_calls_state" CHECK ("tool_calls"."state" in ('started', 'succeeded', 'failed', 'unknown')),
	CONSTRAINT "tool_calls_ended" CHECK (("tool_calls"."state" = 'started') = ("tool_calls"."ended_at" is null))
);
--> statement-breakpoint
CREATE TABLE "sealed_secrets" (
	"session_id" text NOT NULL,
	"name" text NOT NULL,
	"sealed" text NOT NULL,
	CONSTRAINT "sealed_secrets_session_id_name_pk" PRIMARY KEY("session_id","name")
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" text PRIMARY KEY NOT NULL,
	"owner_id" text NOT NULL,
	"parent_session_id" text,
	"title" text NOT NULL,
	"user_id" text,
	"source" text NOT NULL,
	"metadata" json,
	"idempotency_key" text,
	"body_hash" text NOT NULL,
	"target_url" text,
	"target_page_urls" jsonb NOT NULL,
	"output_schema" json,
	"tools" jsonb NOT NULL,
	"toolset" jsonb NOT NULL,
	"system_prompt" text,
	"mcp_servers" jsonb NOT NULL,
	"capabilities" jsonb NOT NULL,
	"sub_agents" boolean NOT NULL,
	"max_live_children" integer NOT NULL,
	"max_live_browsers" integer NOT NULL,
	"callback_url" text,
	"callback_events" jsonb,
	"startup_status" text DEFAULT 'uninitialized' NOT NULL,
	"share_revocation" integer DEFAULT 0 NOT NULL,
	"event_seq" bigint DEFAULT 0 NOT NULL,
	"message_seq" integer DEFAULT 0 NOT NULL,
	"active_run_id" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "sessions_source" CHECK ("sessions"."source" in ('web', 'api', 'slack', 'cli')),
	CONSTRAINT "sessions_startup_status" CHECK ("sessions"."startup_status" in ('uninitialized', 'starting', 'ready', 'error')),
	CONSTRAINT "sessions_caps" CHECK ("sessions"."max_live_children" >= 0 and "sessions"."max_live_browsers" between 0 and "sessions"."max_live_children"),
	CONSTRAINT "sessions_callback" CHECK (("sessions"."callback_url" is null) = ("sessions"."callback_events" is null))
);
--> statement-breakpoint
CREATE TABLE "share_tokens" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"role" text NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "share_tokens_role" CHECK ("share_tokens"."role" in ('view', 'comment', 'drive'))
);
--> statement-breakpoint
ALTER TABLE "annotations" ADD CONSTRAINT "annotations_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "browsers" ADD CONSTRAINT "browsers_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "elicitations" ADD CONSTRAINT "elicitations_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "elicitations" ADD CONSTRAINT "elicitations_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "evidence" ADD CONSTRAINT "evidence_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "evidence" ADD CONSTRAINT "evidence_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "delivery_attempts" ADD CONSTRAINT "delivery_attempts_delivery_id_deliveries_id_fk" FOREIGN KEY ("delivery_id") REFERENCES "public"."deliveries"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "engine_runs" ADD CONSTRAINT "engine_runs_event_id_engine_events_id_fk" FOREIGN KEY ("event_id") REFERENCES "public"."engine_events"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "engine_steps" ADD CONSTRAINT "engine_steps_run_id_engine_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."engine_runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deliverables" ADD CONSTRAINT "deliverables_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deliverables" ADD CONSTRAINT "deliverables_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "events" ADD CONSTRAINT "events_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "messages" ADD CONSTRAINT "messages_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "messages" ADD CONSTRAINT "messages_request_id_requests_id_fk" FOREIGN KEY ("request_id") REFERENCES "public"."requests"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "messages" ADD CONSTRAINT "messages_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "requests" ADD CONSTRAINT "requests_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "requests" ADD CONSTRAINT "requests_joined_run_id_runs_id_fk" FOREIGN KEY ("joined_run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_request_id_session_id_requests_id_session_id_fk" FOREIGN KEY ("request_id","session_id") REFERENCES "public"."requests"("id","session_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "steps" ADD CONSTRAINT "steps_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tool_calls" ADD CONSTRAINT "tool_calls_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sealed_secrets" ADD CONSTRAINT "sealed_secrets_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_parent_session_id_sessions_id_fk" FOREIGN KEY ("parent_session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "share_tokens" ADD CONSTRAINT "share_tokens_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "annotations_session" ON "annotations" USING btree ("session_id","created_at");--> statement-breakpoint
CREATE INDEX "elicitations_session" ON "elicitations" USING btree ("session_id","created_at");--> statement-breakpoint
CREATE INDEX "elicitations_run" ON "elicitations" USING btree ("run_id");--> statement-breakpoint
CREATE INDEX "evidence_session" ON "evidence" USING btree ("session_id","created_at");--> statement-breakpoint
CREATE INDEX "evidence_run" ON "evidence" USING btree ("run_id");--> statement-breakpoint
CREATE INDEX "deliveries_session" ON "deliveries" USING btree ("session_id","created_at");--> statement-breakpoint
CREATE INDEX "deliveries_open" ON "deliveries" USING btree ("state") WHERE state in ('pending', 'sending');--> statement-breakpoint
CREATE INDEX "engine_events_age" ON "engine_events" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "engine_runs_open" ON "engine_runs" USING btree ("function_id") WHERE ended_at is null;--> statement-breakpoint
CREATE INDEX "engine_runs_ended" ON "engine_runs" USING btree ("ended_at") WHERE ended_at is not null;--> statement-breakpoint
CREATE INDEX "engine_runs_event" ON "engine_runs" USING btree ("event_id");--> statement-breakpoint
CREATE INDEX "engine_steps_waits" ON "engine_steps" USING btree ("event_name") WHERE kind = 'event' and state = 'pending';--> statement-breakpoint
CREATE INDEX "api_keys_owner" ON "api_keys" USING btree ("owner_id");--> statement-breakpoint
CREATE INDEX "outbox_unsent" ON "outbox" USING btree ("created_at") WHERE sent_at is null;--> statement-breakpoint
CREATE INDEX "removals_age" ON "removals" USING btree ("removed_at");--> statement-breakpoint
CREATE INDEX "deliverables_session" ON "deliverables" USING btree ("session_id","created_at");--> statement-breakpoint
CREATE INDEX "events_request" ON "events" USING btree ("request_id","seq");--> statement-breakpoint
CREATE UNIQUE INDEX "events_one_end" ON "events" USING btree ("run_id") WHERE kind = 'run.completed';--> statement-breakpoint
CREATE UNIQUE INDEX "events_one_start" ON "events" USING btree ("run_id") WHERE kind = 'run.started';--> statement-breakpoint
CREATE INDEX "messages_request" ON "messages" USING btree ("request_id");--> statement-breakpoint
CREATE INDEX "messages_run" ON "messages" USING btree ("run_id") WHERE run_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "requests_idempotency_key" ON "requests" USING btree ("session_id","idempotency_key");--> statement-breakpoint
CREATE INDEX "requests_joined" ON "requests" USING btree ("joined_run_id") WHERE joined_run_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "runs_one_running" ON "runs" USING btree ("session_id") WHERE state = 'running';--> statement-breakpoint
CREATE INDEX "runs_open" ON "runs" USING btree ("state") WHERE state in ('pending', 'running');--> statement-breakpoint
CREATE INDEX "runs_session" ON "runs" USING btree ("session_id","created_at");--> statement-breakpoint
CREATE INDEX "steps_history" ON "steps" USING btree ("session_id","position") WHERE model_messages is not null;--> statement-breakpoint
CREATE INDEX "steps_compactions" ON "steps" USING btree ("session_id","replaces_through") WHERE replaces_through is not null;--> statement-breakpoint
CREATE INDEX "tool_calls_session" ON "tool_calls" USING btree ("session_id","started_at");--> statement-breakpoint
CREATE UNIQUE INDEX "sessions_owner_idempotency_key" ON "sessions" USING btree ("owner_id","idempotency_key");--> statement-breakpoint
CREATE INDEX "sessions_owner_recent" ON "sessions" USING btree ("owner_id","created_at" DESC NULLS LAST,"id");--> statement-breakpoint
CREATE INDEX "sessions_parent" ON "sessions" USING btree ("parent_session_id");--> statement-breakpoint
CREATE INDEX "share_tokens_session" ON "share_tokens" USING btree ("session_id");