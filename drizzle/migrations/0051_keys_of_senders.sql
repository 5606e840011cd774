CREATE TABLE "sender_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"sender_id" uuid NOT NULL,
	"name" text NOT NULL,
	"algorithm" text NOT NULL,
	"public_key" text NOT NULL,
	"fingerprint" text NOT NULL,
	"subject" text,
	"last_used_at" timestamp (3) with time zone,
	"last_address" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "sender_keys_workspaceId_fingerprint_unique" UNIQUE("workspace_id","fingerprint")
);
--> statement-breakpoint
ALTER TABLE "sender_keys" ADD CONSTRAINT "sender_keys_sender_id_senders_id_fk" FOREIGN KEY ("sender_id") REFERENCES "public"."senders"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "sender_keys_sender_id_id_index" ON "sender_keys" USING btree ("sender_id","id");