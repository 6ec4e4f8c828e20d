CREATE TABLE "logins" (
	"id" text PRIMARY KEY NOT NULL,
	"token_hash" text NOT NULL,
	"method" text NOT NULL,
	"link_hash" text,
	"issuer" text,
	"subject" text,
	"email" text,
	"user_agent" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_seen_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "logins_token_hash_unique" UNIQUE("token_hash"),
	CONSTRAINT "logins_link_hash_unique" UNIQUE("link_hash"),
	CONSTRAINT "logins_method" CHECK ("logins"."method" in ('link', 'oidc'))
);
