//! The attribute that operator authors write above their handlers. It needs no parser of Rust, so it costs no build time.

use proc_macro::{Delimiter, Group, Ident, Spacing, Span, TokenStream, TokenTree};

/// Stands above `impl Validator<K> for …` and `impl Defaulter<K> for …`. It says which operations the handler judges: those
/// whose methods are written.
///
/// Each method returns what suits it, as long as that becomes a verdict or a defaulted object; without the attribute
/// the compiler's lint `refining_impl_trait` speaks up, and the constant `OPERATIONS` has to be written by hand.
#[proc_macro_attribute]
pub fn handler(arguments: TokenStream, item: TokenStream) -> TokenStream {
    if let Some(argument) = arguments.into_iter().next() {
        return error(argument.span(), "`#[handler]` takes no arguments: the methods say which operations are judged");
    }
    let mut item: Vec<TokenTree> = item.into_iter().collect();
    let is_impl_of_trait = ["impl", "for"].iter().all(|word| item.iter().any(|token| is_ident(token, word)));
    let Some(TokenTree::Group(body)) = item.pop().filter(|_| is_impl_of_trait) else {
        return error(Span::call_site(), "`#[handler]` stands above an `impl Validator<…>` or `impl Defaulter<…>`");
    };
    let methods = methods(&body);
    if methods.is_empty() {
        let message = "a handler without a method judges nothing: write `create`, `update`, `delete` or `connect`";
        return error(body.span_open(), message);
    }
    let operations: String = methods.iter().map(|method| format!("{:?},", method.to_string().to_uppercase())).collect();
    let constant = source(&format!("const OPERATIONS: &'static [&'static str] = &[{operations}];"));
    let (body_stream, errors) = asynchronous(&body, &item);
    let unknown = unknown(&methods, &item);
    let mut with_constant = Group::new(Delimiter::Brace, constant.into_iter().chain(body_stream).collect());
    with_constant.set_span(body.span());
    let allow = source("#[allow(refining_impl_trait)]");
    allow.into_iter().chain(item).chain([TokenTree::Group(with_constant)]).chain(errors).chain(unknown).collect()
}

/// An error for each method that no handler has, with those that it may have.
fn unknown(methods: &[Ident], header: &[TokenTree]) -> TokenStream {
    let (known, of, advice) = if header.iter().any(|token| is_ident(token, "Defaulter")) {
        (&["create", "update"][..], "defaulter", "`create` or `update`")
    } else {
        (&["create", "update", "delete", "connect"][..], "validator", "`create`, `update`, `delete` or `connect`")
    };
    let unknown = methods.iter().filter(|method| !known.contains(&method.to_string().as_str()));
    unknown
        .map(|method| {
            let message =
                format!("a {of} is never asked for `{method}`: write {advice}, which are operations of reviews");
            error(method.span(), &message)
        })
        .collect()
}

/// Names of types that methods answer, none of which is a future.
const ANSWERS: [&str; 5] = ["Defaulted", "Issues", "Option", "Result", "Verdict"];

/// The body with `async` where an author forgot it, and an error for each such place: with both, no other is reported.
fn asynchronous(body: &Group, header: &[TokenTree]) -> (TokenStream, TokenStream) {
    let tokens: Vec<TokenTree> = body.stream().into_iter().collect();
    let (mut complete, mut errors) = (Vec::with_capacity(tokens.len()), TokenStream::new());
    for (at, token) in tokens.iter().enumerate() {
        let is_async = at.checked_sub(1).is_some_and(|before| is_ident(&tokens[before], "async"));
        if let [TokenTree::Ident(word), TokenTree::Ident(name), signature @ ..] = &tokens[at..]
            && word.to_string() == "fn"
            && !is_async
            && !may_be_future(signature, header)
        {
            let message = format!("the methods of a handler are asynchronous: write `async fn {name}`");
            errors.extend(error(word.span(), &message));
            complete.push(TokenTree::Ident(Ident::new("async", word.span())));
        }
        complete.push(token.clone());
    }
    (complete.into_iter().collect(), errors)
}

/// Whether a method may return a future, by the name of its type: it is neither an answer nor named in the header, as the
/// kind is. `signature` is what follows the method's name.
fn may_be_future(signature: &[TokenTree], header: &[TokenTree]) -> bool {
    let is_group = |token: &TokenTree, of| matches!(token, TokenTree::Group(group) if group.delimiter() == of);
    let is_open = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '<');
    let ends = |token: &TokenTree| is_group(token, Delimiter::Brace) || is_open(token) || is_ident(token, "where");
    let behind_arguments = signature.iter().skip_while(|token| !is_group(token, Delimiter::Parenthesis)).skip(1);
    let returned = behind_arguments.take_while(|token| !ends(token));
    let names =
        returned.filter_map(|token| if let TokenTree::Ident(name) = token { Some(name.to_string()) } else { None });
    let Some(name) = names.last() else { return false };
    !ANSWERS.contains(&name.as_str()) && !header.iter().any(|token| is_ident(token, &name))
}

/// The names of the functions that are defined in a body.
fn methods(body: &Group) -> Vec<Ident> {
    let tokens: Vec<TokenTree> = body.stream().into_iter().collect();
    let names = tokens.windows(2).filter(|pair| is_ident(&pair[0], "fn"));
    names.filter_map(|pair| if let TokenTree::Ident(name) = &pair[1] { Some(name.clone()) } else { None }).collect()
}

fn is_ident(token: &TokenTree, name: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident.to_string() == name)
}

/// Rust that stands in this file, so that it can be read.
fn source(text: &str) -> TokenStream {
    text.parse().unwrap_or_else(|_| error(Span::call_site(), "`#[handler]` wrote what is no Rust"))
}

/// A compile error at `span`.
fn error(span: Span, message: &str) -> TokenStream {
    let at = |token: TokenTree| {
        let mut token = token;
        token.set_span(span);
        token
    };
    let name = TokenTree::Ident(Ident::new("compile_error", span));
    let bang = TokenTree::Punct(proc_macro::Punct::new('!', Spacing::Alone));
    let text = TokenTree::Literal(proc_macro::Literal::string(message));
    let arguments = TokenTree::Group(Group::new(Delimiter::Parenthesis, TokenStream::from(at(text))));
    let end = TokenTree::Punct(proc_macro::Punct::new(';', Spacing::Alone));
    [name, bang, arguments, end].into_iter().map(at).collect()
}
