//! What is wrong with a configuration is said, and nothing is started.

use hooks_service::configuration::Configuration;
use hooks_service::service::Service;

const HEAD: &str =
    "listen = '127.0.0.1:0'\nshutdown_ms = 1\nmetrics = false\ntokens = {}\n[[plugin]]\n";

async fn refused(plugin: &str) -> String {
    let configuration = Configuration::from_toml(&format!("{HEAD}{plugin}")).expect("a form");
    let error = Service::launch(configuration).await.expect_err("a plugin is wrong").to_string();
    error.lines().next().expect("a line").to_owned()
}

#[tokio::test]
async fn a_plugin_that_is_wrong_is_named() {
    assert_eq!(refused("id = 'price'").await, "there is no plugin \"price\"");
    let misspelt = refused("id = 'quota'\norder = 1").await;
    assert_eq!(misspelt, "the settings of \"quota\": unknown field `order`, expected `orders`");
    let closed = refused("id = 'journal'\npath = '/dev/null/orders'").await;
    assert!(closed.contains("`journal`"), "{closed}");
}
