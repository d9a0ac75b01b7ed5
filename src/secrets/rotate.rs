//! Where a leaked secret is replaced by a new one, as text: nothing is ever opened.

/// The beginning of a rule's id, and where such secrets are replaced.
const PAGES: [(&str, &str); 44] = [
    ("anthropic", "console.anthropic.com → API keys"),
    ("openai", "platform.openai.com → API keys"),
    ("openrouter", "openrouter.ai → Keys"),
    ("groq", "console.groq.com → API Keys"),
    ("huggingface", "huggingface.co → Settings → Access Tokens"),
    (
        "github",
        "github.com → Settings → Developer settings → Tokens",
    ),
    ("gitlab", "gitlab.com → Preferences → Access tokens"),
    (
        "bitbucket",
        "bitbucket.org → Personal settings → App passwords",
    ),
    ("atlassian", "id.atlassian.com → Security → API tokens"),
    ("npm", "npmjs.com → Access Tokens"),
    ("pypi", "pypi.org → Account settings → API tokens"),
    ("crates", "crates.io → Account settings → API Tokens"),
    ("rubygems", "rubygems.org → Settings → API keys"),
    (
        "docker",
        "hub.docker.com → Account settings → Personal access tokens",
    ),
    ("aws", "AWS console → IAM → Users → Security credentials"),
    (
        "google",
        "console.cloud.google.com → APIs & Services → Credentials",
    ),
    (
        "azure",
        "portal.azure.com → the resource or app → Keys or secrets",
    ),
    ("digitalocean", "cloud.digitalocean.com → API → Tokens"),
    (
        "heroku",
        "dashboard.heroku.com → Account settings → API key",
    ),
    ("fly", "fly.io → Account → Access tokens"),
    ("netlify", "app.netlify.com → User settings → Applications"),
    ("vercel", "vercel.com → Account settings → Tokens"),
    (
        "cloudflare",
        "dash.cloudflare.com → My Profile → API Tokens",
    ),
    ("vault", "vault token revoke"),
    (
        "databricks",
        "Databricks → Settings → Developer → Access tokens",
    ),
    (
        "supabase",
        "supabase.com → Account → Access Tokens, or the project's API settings",
    ),
    (
        "planetscale",
        "app.planetscale.com → Settings → Service tokens",
    ),
    ("mongodb", "cloud.mongodb.com → Access Manager"),
    ("grafana", "Grafana → Administration → Service accounts"),
    ("sentry", "sentry.io → Settings → Auth Tokens"),
    ("notion", "notion.so → My integrations"),
    ("linear", "linear.app → Settings → API"),
    (
        "figma",
        "figma.com → Settings → Security → Personal access tokens",
    ),
    ("stripe", "dashboard.stripe.com → Developers → API keys"),
    ("shopify", "the shop's admin → Apps → API credentials"),
    (
        "slack",
        "api.slack.com/apps → the app → OAuth & Permissions",
    ),
    (
        "discord",
        "discord.com/developers → the application → Bot, or the channel's webhooks",
    ),
    ("telegram", "@BotFather → /revoke"),
    ("twilio", "console.twilio.com → Account → API keys"),
    ("sendgrid", "app.sendgrid.com → Settings → API Keys"),
    ("tailscale", "login.tailscale.com → Settings → Keys"),
    (
        "private-key",
        "make a new key pair, and remove the old public key wherever it is trusted",
    ),
    (
        "putty",
        "make a new key pair, and remove the old public key wherever it is trusted",
    ),
    (
        "json-web",
        "end the session or sign-in that it belongs to; it may expire by itself",
    ),
];

/// Returns where secrets of a kind are replaced by new ones.
pub fn rotation(kind: &str) -> &'static str {
    let page = PAGES.iter().find(|(id, _)| kind.starts_with(id));
    page.map_or("at the service that it opens", |(_, page)| page)
}
