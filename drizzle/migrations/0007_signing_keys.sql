CREATE TABLE "signing_keys" (
	"id" integer PRIMARY KEY NOT NULL,
	"sealed" text NOT NULL,
	"public_key" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
