CREATE TABLE "browser_hosts" (
	"id" text PRIMARY KEY NOT NULL,
	"home" text NOT NULL,
	"session_id" text,
	"machine" text,
	"url" text NOT NULL,
	"sealed_token" text NOT NULL,
	"protocol" integer NOT NULL,
	"places" integer NOT NULL,
	"load" integer DEFAULT 0 NOT NULL,
	"lease_until" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "browser_hosts_home" CHECK ("browser_hosts"."home" in ('local', 'remote', 'sandbox'))
);
--> statement-breakpoint
ALTER TABLE "browsers" RENAME COLUMN "owner" TO "host_id";--> statement-breakpoint
ALTER TABLE "browsers" ADD COLUMN "last_change" text;--> statement-breakpoint
ALTER TABLE "browser_hosts" ADD CONSTRAINT "browser_hosts_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;