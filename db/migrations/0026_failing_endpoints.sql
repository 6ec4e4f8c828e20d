CREATE TABLE "failing_endpoints" (
	"owner_id" text NOT NULL,
	"host" text NOT NULL,
	"failing_since" timestamp (3) with time zone NOT NULL,
	"dropped" integer NOT NULL,
	"disabled_at" timestamp (3) with time zone,
	CONSTRAINT "failing_endpoints_owner_id_host_pk" PRIMARY KEY("owner_id","host")
);
