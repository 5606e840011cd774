CREATE TABLE "link_pages" (
	"workspace_id" uuid PRIMARY KEY NOT NULL,
	"name" text,
	"color" text,
	"text" text DEFAULT '' NOT NULL,
	"logo" "bytea",
	"logo_type" text,
	"logo_digest" text
);
--> statement-breakpoint
ALTER TABLE "link_pages" ADD CONSTRAINT "link_pages_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "link_pages_logo_digest_index" ON "link_pages" USING btree ("logo_digest");