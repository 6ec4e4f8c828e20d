CREATE TABLE "browser_hosts" (
	"id" text PRIMARY KEY NOT NULL,
	"home" text NOT NULL,
	"session_id" text,
	"machine" text,
	"url" text NOT NULL,
	"relay_url" text,
	"sealed_token" text NOT NULL,
	"protocol" integer NOT NULL,
	"places" integer NOT NULL,
	"load" integer DEFAULT 0 NOT NULL,
	"lease_until" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "browser_hosts_home" CHECK ("browser_hosts"."home" in ('local', 'remote', 'sandbox'))
);
--> statement-breakpoint
CREATE TABLE "site_data" (
	"session_id" text NOT NULL,
	"name" text NOT NULL,
	"sealed" text NOT NULL,
	"size_bytes" integer NOT NULL,
	"used_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "site_data_session_id_name_pk" PRIMARY KEY("session_id","name")
);
--> statement-breakpoint
ALTER TABLE "browsers" RENAME COLUMN "owner" TO "host_id";--> statement-breakpoint
ALTER TABLE "browsers" ADD COLUMN "last_change" text;--> statement-breakpoint
ALTER TABLE "browsers" ADD COLUMN "waiting_since" timestamp (6) with time zone;--> statement-breakpoint
ALTER TABLE "browsers" ADD COLUMN "restart_notice" text;--> statement-breakpoint
ALTER TABLE "browser_hosts" ADD CONSTRAINT "browser_hosts_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "site_data" ADD CONSTRAINT "site_data_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "browsers_waiting" ON "browsers" USING btree ("waiting_since") WHERE waiting_since is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "browser_hosts_session" ON "browser_hosts" USING btree ("session_id");