//! What a quantity means: parsing, and the canonical text that Kubernetes prints.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// An amount with the notation that it was written in.
///
/// Digits are kept, not a machine number, so amounts of any length are exact down to a billionth; what is smaller
/// counts as a billionth. Amounts in binary notation end at 2⁶³−1, as in Kubernetes.
///
/// ```
/// use gateward_core::quantity::Amount;
///
/// let amount: Amount = "1.5Gi".parse()?;
/// assert_eq!(amount.to_string(), "1536Mi");
/// assert_eq!(amount.whole(), Some(1_610_612_736));
/// assert!("many".parse::<Amount>().is_err());
/// # Ok::<(), gateward_core::quantity::InvalidQuantity>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amount {
    negative: bool,
    /// Decimal digits from 0 to 9, the greatest place first, without zeros at either end; none means zero.
    digits: Vec<u8>,
    /// The power of ten of the last digit.
    exponent: i64,
    notation: Notation,
}

/// The text is no quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a quantity: a number, perhaps with a suffix such as m, k, Mi or e3")]
pub struct InvalidQuantity;

/// How an amount was written, and so how its canonical text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Notation {
    /// With a suffix for a power of 1000, or none.
    Decimal,
    /// With an exponent.
    Exponent,
    /// With a suffix for a power of 1024.
    Binary,
}

/// The smallest power of ten that is kept.
const NANO: i64 = -9;

/// Suffixes of decimal notation with their powers of ten.
const DECIMAL_SUFFIXES: [(&str, i64); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];

/// Suffixes of binary notation; the power of 1024 is one more than the position.
const BINARY_SUFFIXES: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

impl Amount {
    /// How the amount compares with zero.
    pub fn sign(&self) -> Ordering {
        match (self.is_zero(), self.negative) {
            (true, _) => Ordering::Equal,
            (false, true) => Ordering::Less,
            (false, false) => Ordering::Greater,
        }
    }

    /// Whether the amount is zero, however it was written.
    pub fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Whether both are the same amount, whatever the notation.
    ///
    /// ```
    /// use gateward_core::quantity::Amount;
    ///
    /// let (binary, decimal): (Amount, Amount) = ("1Ki".parse()?, "1024".parse()?);
    /// assert!(binary.equals(&decimal) && binary != decimal);
    /// # Ok::<(), gateward_core::quantity::InvalidQuantity>(())
    /// ```
    pub fn equals(&self, other: &Self) -> bool {
        self.sign() == other.sign()
            && self.digits == other.digits
            && (self.is_zero() || self.exponent == other.exponent)
    }

    /// The amount as an integer; `None` where it has a fraction or is out of range.
    pub fn whole(&self) -> Option<i64> {
        let magnitude = i128::from(self.magnitude()?);
        i64::try_from(if self.negative { -magnitude } else { magnitude }).ok()
    }

    /// The amount without its sign; `None` where it has a fraction or needs more than 19 digits.
    fn magnitude(&self) -> Option<u64> {
        let zeros = usize::try_from(self.exponent).ok()?;
        if self.digits.len().saturating_add(zeros) > 19 {
            return None;
        }
        let padded = self.digits.iter().chain(std::iter::repeat_n(&0, zeros));
        Some(padded.fold(0, |value, digit| value * 10 + u64::from(*digit)))
    }

    fn new(negative: bool, digits: Vec<u8>, exponent: i64, notation: Notation) -> Self {
        let mut amount = Self { negative, digits, exponent, notation };
        amount.trim();
        amount
    }

    /// Takes zeros off both ends.
    fn trim(&mut self) {
        let leading = self.digits.iter().take_while(|digit| **digit == 0).count();
        self.digits.drain(..leading);
        while self.digits.last() == Some(&0) {
            self.digits.pop();
            self.exponent += 1;
        }
        if self.digits.is_empty() {
            self.exponent = 0;
        }
    }

    /// Multiplies by 1024 so many times.
    fn times_1024(&mut self, times: usize) {
        for _ in 0..times {
            let mut carry = 0;
            for digit in self.digits.iter_mut().rev() {
                let product = u32::from(*digit) * 1024 + carry;
                *digit = (product % 10) as u8;
                carry = product / 10;
            }
            while carry > 0 {
                self.digits.insert(0, (carry % 10) as u8);
                carry /= 10;
            }
        }
        self.trim();
    }

    /// Rounds up to a billionth, as apimachinery does, so that a positive amount never becomes zero.
    fn round_up(&mut self) {
        if self.exponent >= NANO || self.is_zero() {
            return;
        }
        let dropped = usize::try_from(NANO - self.exponent).unwrap_or(usize::MAX).min(self.digits.len());
        self.digits.truncate(self.digits.len() - dropped);
        self.exponent = NANO;
        self.add_one();
        self.trim();
    }

    /// Adds one at the last place.
    fn add_one(&mut self) {
        for digit in self.digits.iter_mut().rev() {
            if *digit < 9 {
                *digit += 1;
                return;
            }
            *digit = 0;
        }
        self.digits.insert(0, 1);
    }

    /// Holds an amount in binary notation within its bounds; below one it is decimal.
    fn settle_binary(&mut self) {
        let integer_digits = i64::try_from(self.digits.len()).unwrap_or(i64::MAX).saturating_add(self.exponent);
        if integer_digits <= 0 {
            self.notation = Notation::Decimal;
        }
        if integer_digits > 19 || self.exceeds_the_greatest_integer() {
            let digits = i64::MAX.to_string().bytes().map(|byte| byte - b'0').collect();
            *self = Self::new(self.negative, digits, 0, Notation::Binary);
        }
    }

    fn exceeds_the_greatest_integer(&self) -> bool {
        let whole = Self { digits: self.integer_part(), exponent: self.exponent.max(0), ..*self };
        whole.magnitude().is_some_and(|value| value > i64::MAX.unsigned_abs())
    }

    fn integer_part(&self) -> Vec<u8> {
        let fraction = usize::try_from(-self.exponent).unwrap_or(0);
        self.digits[..self.digits.len().saturating_sub(fraction)].to_vec()
    }

    /// Number and power of 1024 in canonical binary form; `None` where decimal form is the canonical one.
    fn binary_form(&self) -> Option<(u64, usize)> {
        let mut value = self.magnitude().filter(|value| self.notation == Notation::Binary && *value >= 1024)?;
        let mut power = 0;
        while value % 1024 == 0 {
            value /= 1024;
            power += 1;
        }
        Some((value, power))
    }
}

/// The canonical text: no fraction, and the greatest suffix that allows that; an exponent where no suffix reaches.
impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.write_str("0");
        }
        if self.negative {
            f.write_str("-")?;
        }
        if let Some((value, power)) = self.binary_form() {
            let suffix = power.checked_sub(1).map_or("", |place| BINARY_SUFFIXES[place]);
            return write!(f, "{value}{suffix}");
        }
        let zeros = self.exponent.rem_euclid(3);
        let exponent = self.exponent - zeros;
        for digit in self.digits.iter().copied().chain((0..zeros).map(|_| 0)) {
            write!(f, "{digit}")?;
        }
        match DECIMAL_SUFFIXES.iter().find(|(_, power)| *power == exponent) {
            Some((suffix, _)) if self.notation != Notation::Exponent || exponent == 0 => f.write_str(suffix),
            _ => write!(f, "e{exponent}"),
        }
    }
}

impl FromStr for Amount {
    type Err = InvalidQuantity;

    fn from_str(text: &str) -> Result<Self, InvalidQuantity> {
        let text = text.trim();
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(end);
        let (integer, fraction) = number.split_once('.').unwrap_or((number, ""));
        if fraction.contains('.') || integer.len() + fraction.len() == 0 {
            return Err(InvalidQuantity);
        }
        let digits = integer.bytes().chain(fraction.bytes()).map(|byte| byte - b'0').collect();
        let places = i64::try_from(fraction.len()).map_err(|_| InvalidQuantity)?;
        Ok(Suffix::read(suffix)?.apply(text.starts_with('-'), digits, -places))
    }
}

/// What follows the number.
enum Suffix {
    /// A power of ten.
    Ten(i64, Notation),
    /// A power of 1024.
    Binary(usize),
}

impl Suffix {
    fn read(text: &str) -> Result<Self, InvalidQuantity> {
        if let Some(place) = BINARY_SUFFIXES.iter().position(|suffix| *suffix == text) {
            return Ok(Self::Binary(place + 1));
        }
        if let Some((_, power)) = DECIMAL_SUFFIXES.iter().find(|(suffix, _)| *suffix == text) {
            return Ok(Self::Ten(*power, Notation::Decimal));
        }
        let exponent = text.strip_prefix(['e', 'E']).ok_or(InvalidQuantity)?;
        let exponent: i32 = exponent.parse().map_err(|_| InvalidQuantity)?;
        Ok(Self::Ten(exponent.into(), Notation::Exponent))
    }

    /// The amount that a number with this suffix means.
    fn apply(self, negative: bool, digits: Vec<u8>, exponent: i64) -> Amount {
        match self {
            Self::Ten(power, notation) => {
                let mut amount = Amount::new(negative, digits, exponent + power, notation);
                amount.round_up();
                amount
            }
            Self::Binary(times) => {
                let mut amount = Amount::new(negative, digits, exponent, Notation::Binary);
                amount.times_1024(times);
                amount.round_up();
                amount.settle_binary();
                amount
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts with the canonical form that Kubernetes 1.34 prints.
    const CANONICAL: [(&str, &str); 44] = [
        ("0", "0"),
        ("-0", "0"),
        ("0.0", "0"),
        ("0Ki", "0"),
        ("007", "7"),
        ("+5", "5"),
        ("-1", "-1"),
        ("1.", "1"),
        (".5", "500m"),
        ("0.5", "500m"),
        ("4.0", "4"),
        ("4.5", "4500m"),
        ("1000m", "1"),
        ("1500m", "1500m"),
        ("100u", "100u"),
        ("1n", "1n"),
        ("0.1n", "1n"),
        ("0.00000000011", "1n"),
        ("123456789.123456789123", "123456789123456790n"),
        ("1e3", "1e3"),
        ("1E3", "1e3"),
        ("1E", "1E"),
        ("1e1", "10"),
        ("1e4", "10e3"),
        ("10e5", "1e6"),
        ("1e20", "100e18"),
        ("1e1000", "10e999"),
        ("1e-3", "1e-3"),
        ("1e-12", "1e-9"),
        ("12345678901234567890123", "12345678901234567890123"),
        ("1024", "1024"),
        ("1Ki", "1Ki"),
        ("1023Ki", "1023Ki"),
        ("1024Ki", "1Mi"),
        ("2048Mi", "2Gi"),
        ("0.5Gi", "512Mi"),
        ("1.5Ki", "1536"),
        ("-1.5Gi", "-1536Mi"),
        ("0.3Mi", "314572800m"),
        ("1.1Ki", "1126400m"),
        ("0.0001Ki", "102400u"),
        ("7Ei", "7Ei"),
        ("8Ei", "9223372036854775807"),
        ("-16Ei", "-9223372036854775807"),
    ];

    #[test]
    fn prints_what_kubernetes_prints() {
        for (text, canonical) in CANONICAL {
            assert_eq!(text.parse::<Amount>().unwrap().to_string(), canonical, "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_quantity() {
        for text in ["", ".", "-", "1Zi", "1e", "1ee3", "1i", "1mi", "1_0", "0x10", "1 Gi", "1.2.3", "1Kim", "é"] {
            assert_eq!(text.parse::<Amount>(), Err(InvalidQuantity), "{text}");
        }
    }

    #[test]
    fn tells_the_sign() {
        for (text, sign) in [("-1n", Ordering::Less), ("-0Gi", Ordering::Equal), ("1e-30", Ordering::Greater)] {
            assert_eq!(text.parse::<Amount>().unwrap().sign(), sign, "{text}");
        }
    }

    #[test]
    fn tells_whole_amounts_from_fractions() {
        let whole = |text: &str| text.parse::<Amount>().unwrap().whole();
        assert_eq!(whole("8"), Some(8));
        assert_eq!(whole("1e3"), Some(1000));
        assert_eq!(whole("2000m"), Some(2));
        assert_eq!(whole("-1Ki"), Some(-1024));
        assert_eq!(whole("500m"), None);
        assert_eq!(whole("9223372036854775807"), Some(i64::MAX));
        assert_eq!(whole("9223372036854775808"), None);
        assert_eq!(whole("1e2000000000"), None);
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "[-+]?[0-9.]{0,30}[eEinumkKMGTP]{0,2}[-+]?[0-9]{0,12}") {
            let _ = text.parse::<Amount>();
        }

        #[test]
        fn canonical_text_is_a_fixed_point(text in "-?[0-9]{1,25}(\\.[0-9]{0,12})?([numkMGTPE]|[KMGTPE]i|e-?[0-9]{1,2})?") {
            let amount: Amount = text.parse().unwrap();
            let again: Amount = amount.to_string().parse().unwrap();
            proptest::prop_assert_eq!(again.to_string(), amount.to_string());
        }

        #[test]
        fn whole_numbers_are_themselves(number: i64) {
            proptest::prop_assert_eq!(number.to_string().parse::<Amount>().unwrap().whole(), Some(number));
        }
    }
}
