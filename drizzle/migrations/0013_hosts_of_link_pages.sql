CREATE TABLE "link_hosts" (
	"workspace_id" uuid PRIMARY KEY NOT NULL,
	"host" text NOT NULL,
	"verified_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "link_hosts" ADD CONSTRAINT "link_hosts_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "link_hosts_host_index" ON "link_hosts" USING btree ("host");--> statement-breakpoint
CREATE UNIQUE INDEX "link_hosts_verified_index" ON "link_hosts" USING btree ("host") WHERE "link_hosts"."verified_at" is not null;