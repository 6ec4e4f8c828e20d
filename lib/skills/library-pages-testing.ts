/** Pages of a shop as a browser serialises them: two with flaws, and one without. */

export const SHOP_HOME = `<!doctype html><html><head><title>Bakery</title>
<meta name="viewport" content="width=device-width, initial-scale=1, user-scalable=no">
<script>const tracking = "the the tracking code </p> <h1>no</h1>";</script><style>.a > b { color: red }</style></head>
<body><header><a href="/"><img src="/img/logo.svg" alt=""></a>
<nav><ul>${Array.from({ length: 11 }, (_, n) => `<li><a href="/c/${n}">Category ${n}</a>`).join("")}</ul></nav></header>
<h1>Fresh bread</h1>
<img src="/img/hero.jpg"><img src="/img/line.png" alt="" class="decoration"><img src="/x.png" alt="IMG_2034.jpg">
<button id="menu"><svg viewBox="0 0 1 1"><path d="M0 0"/></svg></button>
<h4>Today</h4>
<p>Our bread is baked every night in the small bakery behind the shop by people who have learned their craft over many years and who
would not dream of using anything but flour, water, salt and time for it.
<p>We deliver bread to your door. Put what you like in your basket, and we bring it on the the next morning, still warm from the oven.
Orders placed before noon are delivered on the same day.
<p>Lorem ipsum dolor sit amet. Hello {{customer.name}}!
<p>ONLY THIS WEEK EVERYTHING HALF THE PRICE
<h2></h2>
<nav><a href="/help">Help &amp; contact</a> <a href="/more">Click here</a></nav>
<div onclick="open()">Open the map</div>
<a href="/cart"><button>Your cart</button></a>
<iframe src="/map"></iframe>
<form><input type="text" id="news"><input type="email" id="news"><label for="news">E-mail</label><span aria-labelledby="missing">x</span></form>
<table><tr><td>Mon<td>7</tr><tr><td>Tue<td>8</tr></table>
<h1 tabindex="3">Contact us</h1>
<footer>© Bakery <div hidden><h2>Hidden</h2><img src="hidden.png"></div></footer></body></html>`;

export const SHOP_FORM = `<!doctype html><html lang="en"><head><title>Checkout</title></head><body><main><h1>Checkout</h1>
<p>Orders placed before noon are delivered on the same day.</p>
<form id="checkout" action="/pay"><div class="row">
<input type="text" name="email" placeholder="Your e-mail" required>
<label for="phone">Phone *</label><input id="phone" name="phone" type="text" autocomplete="tel">
<label for="card">Card number</label><input id="card" name="card_number" type="number" autocomplete="cc-number" required>
<label>Postcode <input name="postcode" required class="invalid" aria-describedby="gone"></label>
<p class="field-error">Please enter a postcode such as AB1 2CD</p><span class="error">Invalid input</span>
<label for="first">First name</label><input id="first" name="first" autocomplete="firstname" required>
<p>Delivery</p><input type="radio" name="delivery" id="d1" checked><label for="d1">Standard</label>
<input type="radio" name="delivery" id="d2"><label for="d2">Express</label>
<label for="coupon">Coupon</label><input id="coupon">
<label for="pw">Password</label><input id="pw" name="pw" type="password" autocomplete="off" onpaste="return false">
<label for="notes">Notes (optional)</label><textarea id="notes" name="notes" required></textarea>
<input type="hidden" name="token" value="1"><div style="display: none"><input name="honeypot"></div>
<button disabled>Submit</button></div></form></main></body></html>`;

export const SHOP_GOOD = `<!doctype html><html lang="en-GB"><head><title>Pay – Bakery</title>
<meta name="viewport" content="width=device-width, initial-scale=1, maximum-scale=10"></head><body>
<header><nav aria-label="Main"><a href="/">Bakery</a><a href="/bread">All bread</a></nav></header>
<main><h1>Pay for your bread</h1><p>Fields with * are required. We bake for you tonight and bring it before eight.</p>
<h2>Your address</h2>
<form id="pay"><fieldset><legend>Delivery</legend>
<label><input type="radio" name="delivery" value="s" checked> Standard</label>
<label><input type="radio" name="delivery" value="e"> Express</label></fieldset>
<p>Fields with * are required.</p>
<label for="email">E-mail address *</label><input id="email" name="email" type="email" autocomplete="email" required aria-describedby="email-error">
<p id="email-error" class="field-error">Enter an address such as ada@example.com.</p>
<span id="zip-label">Postal code *</span><input name="zip" autocomplete="shipping postal-code" aria-labelledby="zip-label" required>
<label for="card">Card number *</label><input id="card" name="card" inputmode="numeric" autocomplete="section-a billing cc-number" required>
<label for="country">Country</label><select id="country" name="country" autocomplete="country"><option>Germany<option>France</select>
<label for="note">Note to the baker</label><textarea id="note" name="note"></textarea>
<div role="alert"><p class="error">The bakery closes at noon today: choose tomorrow.</p></div>
<button>Pay €12.50</button></form>
<p><img src="/card.png" alt="We take all cards"></p></main><footer><p>Made with flour and water.</p></footer></body></html>`;
